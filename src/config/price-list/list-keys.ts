import type { Unit } from '../../domain/units.ts';

/** Unit that a price of the list charges, and for how many of them the price is. */
export interface ListKey {
  readonly unit: Unit;
  readonly per: number;
}

const MILLION = 1_000_000;
const HOUR_SECONDS = 3_600;

/**
 * The list's names of prices that a unit of ours charges. Several may name one unit, as `audio_hours` and
 * `input_audio_hours` do: the dearest counts.
 */
const CHARGED: Readonly<Record<string, ListKey>> = {
  input_mtok: { unit: 'input', per: MILLION },
  input_text_mtok: { unit: 'input', per: MILLION },
  cache_read_mtok: { unit: 'cachedInput', per: MILLION },
  cache_text_read_mtok: { unit: 'cachedInput', per: MILLION },
  cache_write_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_write_5m_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_text_write_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_text_write_5m_mtok: { unit: 'cacheWrite', per: MILLION },
  cache_write_1h_mtok: { unit: 'cacheWrite1h', per: MILLION },
  cache_text_write_1h_mtok: { unit: 'cacheWrite1h', per: MILLION },
  output_mtok: { unit: 'output', per: MILLION },
  output_text_mtok: { unit: 'output', per: MILLION },
  input_audio_mtok: { unit: 'inputAudio', per: MILLION },
  cache_audio_read_mtok: { unit: 'cachedInputAudio', per: MILLION },
  output_audio_mtok: { unit: 'outputAudio', per: MILLION },
  input_image_mtok: { unit: 'inputImage', per: MILLION },
  cache_image_read_mtok: { unit: 'cachedInputImage', per: MILLION },
  output_image_mtok: { unit: 'outputImage', per: MILLION },
  input_mchars: { unit: 'character', per: MILLION },
  audio_hours: { unit: 'audioSecond', per: HOUR_SECONDS },
  input_audio_hours: { unit: 'audioSecond', per: HOUR_SECONDS },
  web_searches_kcount: { unit: 'webSearch', per: 1_000 },
  requests_kcount: { unit: 'request', per: 1_000 },
};

/**
 * Prices of what no call can incur: the tools that search files and the provider's other sources, or run code, are refused
 * without a price of ours (specification section 10), and no route re-ranks or reads pages of documents.
 */
const NEVER_INCURRED: ReadonlySet<string> = new Set([
  'storage_searches_kcount',
  'social_searches_kcount',
  'code_executions_kcount',
  'rerank_searches_kcount',
  'input_document_kpages',
  'input_annotated_document_kpages',
]);

/** Tokens that answers do not tell apart from others: their price can be kept where it is that of the others. */
const COUNTED_AS: readonly (readonly [RegExp, Unit])[] = [
  [/^input_audio_tool_mtok$/, 'inputAudio'],
  [/^input_image_tool_mtok$/, 'inputImage'],
  [/^input_(video|video_tool|text_tool|tool)_mtok$/, 'input'],
  [/^cache_video_read_mtok$/, 'cachedInput'],
  [/^cache_(audio|image|video)_write(_5m)?_mtok$/, 'cacheWrite'],
  [/^cache_(audio|image|video)_write_1h_mtok$/, 'cacheWrite1h'],
  [/^output_audio_(reasoning|citation)_mtok$/, 'outputAudio'],
  [/^output_image_(reasoning|citation)_mtok$/, 'outputImage'],
  [/^output_(video|(text_|video_)?(reasoning|citation))_mtok$/, 'output'],
];

/** Unit of a price by its name in the list: `charged` by it, or counted `as` it. `unknown`: no unit charges it. */
export function listKey(
  name: string,
): { readonly charged: ListKey } | { readonly as: Unit } | 'never incurred' | 'unknown' {
  const charged = CHARGED[name];
  if (charged) return { charged };
  if (NEVER_INCURRED.has(name)) return 'never incurred';
  const as = COUNTED_AS.find(([pattern]) => pattern.test(name))?.[1];
  return as === undefined ? 'unknown' : { as };
}
