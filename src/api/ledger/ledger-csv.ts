import { USAGE_NAMES, type UsageName } from '../../domain/units.ts';
import { csvLine } from '../http/csv.ts';
import type { EntryView } from './entry-view.ts';

type Column = Exclude<keyof EntryView, 'usage'> | UsageName;

const NAMES = Object.values(USAGE_NAMES);

/** Columns in the order in which they came, so that each keeps its place. Dimensions of usage that are not here follow. */
const ORDERED = [
  'id',
  'type',
  'created_at',
  'key_id',
  'model',
  'category',
  'endpoint',
  'status',
  'outcome',
  'estimated',
  'credits',
  'balance_after',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'characters',
  'images',
  'audio_seconds',
  'video_seconds',
  'requests',
  'note',
  'price',
  'multiplier',
  'upstream',
  'duration_ms',
  'streamed',
  'cache_write_1h_tokens',
  'input_audio_tokens',
  'cached_input_audio_tokens',
  'output_audio_tokens',
  'input_image_tokens',
  'cached_input_image_tokens',
  'output_image_tokens',
  'web_searches',
  'web_search_previews',
  'passes',
  'attempts',
  'first_byte_ms',
] as const satisfies readonly Column[];
const COLUMNS: readonly Column[] = [
  ...ORDERED,
  ...NAMES.filter((name) => !ORDERED.some((column) => column === name)),
];

/** Columns of usage, in the order that exports have them in. */
export const USAGE_CSV_COLUMNS = COLUMNS.filter(isUsage);

const CELLS = COLUMNS.map((column): ((entry: EntryView) => string | number | boolean | null | undefined) => {
  if (isUsage(column)) return ({ usage }) => usage[column];
  if (column !== 'price' && column !== 'passes' && column !== 'attempts') return (entry) => entry[column];
  return (entry) => entry[column] && JSON.stringify(entry[column]);
});

function isUsage(column: Column): column is UsageName {
  return NAMES.some((name) => name === column);
}

/** First line of the export. */
export function csvHeader(): string {
  return csvLine(COLUMNS);
}

/** The line of an entry; absent values are empty cells. `price`, credits by unit, `passes` and `attempts` are JSON. */
export function csvEntry(entry: EntryView): string {
  return csvLine(CELLS.map((cell) => cell(entry)));
}
