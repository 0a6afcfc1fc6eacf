/** Number of units that a price in a config file is for. */
type Per = 1 | 1_000 | 1_000_000;

/** Tokens of a call: read, read from or written to the provider's cache, or written as the answer. */
type TokenKind = 'input' | 'cacheRead' | 'cacheWrite' | 'output';

interface Row {
  /** Dimension of usage that the unit charges: the name inside, also in the usage of ledger rows. */
  readonly usage: string;
  /** The dimension in the API's `usage` and in exports. */
  readonly wire: string;
  /** Column of the dimension in the tables of sums; null: in none, because their `calls` count it. */
  readonly column: string | null;
  /** Number of units that a price is for. */
  readonly per: Per;
  /** Unit that is charged instead if a model has no price for this one; absent: nothing is charged. */
  readonly refines?: string;
  /** Whether it is a fee for each use, which no service tier multiplies. */
  readonly isFee: boolean;
  /** Amounts may be fractions; absent: they are whole. */
  readonly isTimed?: true;
  /** Text after "per" or "per 1,000,000" on the dashboard. */
  readonly words: string;
  /** Description of the dimension in the API, and of the price after "Credits per" in the config schema. */
  readonly help: { readonly used: string; readonly price: string };
}

interface TokenRow extends Row {
  /** Decides about length tiers (all but output), limits of tokens (all but cache reads), and traces. */
  readonly tokens: TokenKind;
  /**
   * Which calls can be charged by it. `any`: every hold counts it. `asking`: only those that ask for it, and whose
   * meter names the unit in `inputUnits` or `outputUnits` (metering/token-cost.ts).
   */
  readonly by: 'any' | 'asking';
}

interface OtherRow extends Row {
  readonly tokens: null;
}

const MILLION = 1_000_000;

/**
 * The units of a price and the dimensions of usage that they charge, a row each (specification section 10, Dimensions),
 * by the name in a config file. A new one is a row here, a reader in src/metering that fills it in, a migration that
 * adds its column, and a row in the second arithmetic (cli/reconcile-charges.ts). `refines` names a unit above its own
 * row.
 */
export const UNITS = {
  input: {
    usage: 'input',
    wire: 'input_tokens',
    column: 'input',
    per: MILLION,
    isFee: false,
    tokens: 'input',
    by: 'any',
    words: 'input tokens',
    help: { used: 'Input tokens that no other field counts.', price: 'input tokens' },
  },
  output: {
    usage: 'output',
    wire: 'output_tokens',
    column: 'output',
    per: MILLION,
    isFee: false,
    tokens: 'output',
    by: 'any',
    words: 'output tokens',
    help: { used: 'Output tokens.', price: 'output tokens' },
  },
  cachedInput: {
    usage: 'cachedInput',
    wire: 'cached_input_tokens',
    column: 'cached_input',
    per: MILLION,
    refines: 'input',
    isFee: false,
    tokens: 'cacheRead',
    by: 'any',
    words: 'cached input tokens',
    help: {
      used: 'Tokens read from a prompt cache.',
      price: 'tokens read from a prompt cache. Default: as `input`',
    },
  },
  cacheWrite: {
    usage: 'cacheWrite',
    wire: 'cache_write_tokens',
    column: 'cache_write',
    per: MILLION,
    refines: 'input',
    isFee: false,
    tokens: 'cacheWrite',
    by: 'any',
    words: 'cache write tokens',
    help: {
      used: 'Tokens written to a prompt cache.',
      price: 'tokens written to a prompt cache. Default: as `input`',
    },
  },
  cacheWrite1h: {
    usage: 'cacheWrite1h',
    wire: 'cache_write_1h_tokens',
    column: 'cache_write_1h',
    per: MILLION,
    refines: 'cacheWrite',
    isFee: false,
    tokens: 'cacheWrite',
    by: 'asking',
    words: 'cache write tokens kept longer than usual',
    help: {
      used: 'Tokens written to a prompt cache that keeps them longer than usual (`ttl`).',
      price:
        "tokens cached for longer than the vendor's shortest time (OpenAI 30 minutes, Anthropic 5); absent: refused",
    },
  },
  inputAudio: {
    usage: 'inputAudio',
    wire: 'input_audio_tokens',
    column: 'input_audio',
    per: MILLION,
    refines: 'input',
    isFee: false,
    tokens: 'input',
    by: 'asking',
    words: 'input audio tokens',
    help: { used: 'Input tokens of sound.', price: 'input tokens of sound. Default: as `input`' },
  },
  cachedInputAudio: {
    usage: 'cachedInputAudio',
    wire: 'cached_input_audio_tokens',
    column: 'cached_input_audio',
    per: MILLION,
    refines: 'inputAudio',
    isFee: false,
    tokens: 'cacheRead',
    by: 'asking',
    words: 'cached input audio tokens',
    help: {
      used: 'Tokens of sound read from a prompt cache.',
      price: 'cached tokens of sound. Default: as `inputAudio`',
    },
  },
  outputAudio: {
    usage: 'outputAudio',
    wire: 'output_audio_tokens',
    column: 'output_audio',
    per: MILLION,
    refines: 'output',
    isFee: false,
    tokens: 'output',
    by: 'asking',
    words: 'output audio tokens',
    help: {
      used: 'Output tokens of sound.',
      price: 'output tokens of sound; absent: refused',
    },
  },
  inputImage: {
    usage: 'inputImage',
    wire: 'input_image_tokens',
    column: 'input_image',
    per: MILLION,
    refines: 'input',
    isFee: false,
    tokens: 'input',
    by: 'asking',
    words: 'input image tokens',
    help: { used: 'Input tokens of pictures.', price: 'input tokens of pictures. Default: as `input`' },
  },
  cachedInputImage: {
    usage: 'cachedInputImage',
    wire: 'cached_input_image_tokens',
    column: 'cached_input_image',
    per: MILLION,
    refines: 'inputImage',
    isFee: false,
    tokens: 'cacheRead',
    by: 'asking',
    words: 'cached input image tokens',
    help: {
      used: 'Tokens of pictures read from a prompt cache.',
      price: 'cached tokens of pictures. Default: as `inputImage`',
    },
  },
  outputImage: {
    usage: 'outputImage',
    wire: 'output_image_tokens',
    column: 'output_image',
    per: MILLION,
    refines: 'output',
    isFee: false,
    tokens: 'output',
    by: 'asking',
    words: 'output image tokens',
    help: { used: 'Output tokens of pictures.', price: 'output tokens of pictures. Default: as `output`' },
  },
  webSearch: {
    usage: 'webSearches',
    wire: 'web_searches',
    column: 'web_searches',
    per: 1_000,
    isFee: true,
    tokens: null,
    words: 'web searches',
    help: {
      used: 'Web searches by the provider.',
      price: 'web searches; absent: refused',
    },
  },
  webSearchPreview: {
    usage: 'webSearchPreviews',
    wire: 'web_search_previews',
    column: 'web_search_previews',
    per: 1_000,
    refines: 'webSearch',
    isFee: true,
    tokens: null,
    words: 'web searches by a preview tool',
    help: {
      used: 'Web searches by a `web_search_preview` tool.',
      price: 'web searches by a `web_search_preview` tool; absent: refused',
    },
  },
  character: {
    usage: 'characters',
    wire: 'characters',
    column: 'characters',
    per: MILLION,
    isFee: false,
    tokens: null,
    words: 'characters',
    help: { used: 'Unicode code points spoken.', price: 'characters of speech' },
  },
  image: {
    usage: 'images',
    wire: 'images',
    column: 'images',
    per: 1,
    isFee: true,
    tokens: null,
    words: 'image',
    help: {
      used: 'Images made.',
      price:
        'image of the default size and quality, or by `size`, `quality` or `size/quality`: { 1024x1024/high: 0.17 }',
    },
  },
  audioSecond: {
    usage: 'audioSeconds',
    wire: 'audio_seconds',
    column: 'audio_seconds',
    per: 1,
    isFee: false,
    isTimed: true,
    tokens: null,
    words: 'second of audio',
    help: { used: 'Seconds of audio transcribed.', price: 'second of audio' },
  },
  videoSecond: {
    usage: 'videoSeconds',
    wire: 'video_seconds',
    column: 'video_seconds',
    per: 1,
    isFee: false,
    isTimed: true,
    tokens: null,
    words: 'second of video',
    help: {
      used: 'Seconds of video made.',
      price: 'second of video of the default size, or as `image`',
    },
  },
  request: {
    usage: 'requests',
    wire: 'requests',
    column: null,
    per: 1,
    isFee: true,
    tokens: null,
    words: 'request',
    help: { used: 'Calls.', price: 'request' },
  },
} as const satisfies Readonly<Record<string, TokenRow | OtherRow>>;

type Units = typeof UNITS;
export type Unit = keyof Units;

export const UNIT_NAMES = Object.keys(UNITS) as readonly Unit[];

/** Columns of the tables of sums. */
export type UsageColumn = Exclude<Units[Unit]['column'], null>;

/** The row of a unit, with every column. */
export function unitRow(unit: Unit): (TokenRow | OtherRow) & {
  readonly usage: Units[Unit]['usage'];
  readonly column: UsageColumn | null;
  readonly refines?: Unit;
} {
  return UNITS[unit];
}

/**
 * Usage of a call, by dimension. An absent dimension is 0. All are integers, but for seconds, which may be fractions.
 * No token is in two dimensions.
 */
export type Usage = { [U in Unit as Units[U]['usage']]?: number };

/** Name of each dimension for clients. */
export const USAGE_NAMES = Object.fromEntries(
  UNIT_NAMES.map((unit) => [UNITS[unit].usage, UNITS[unit].wire]),
) as { readonly [U in Unit as Units[U]['usage']]: Units[U]['wire'] };
export type UsageName = Units[Unit]['wire'];

/** The dimensions that count tokens of these kinds. */
function dimensionsOf(...kinds: readonly TokenKind[]): readonly (keyof Usage)[] {
  return UNIT_NAMES.map(unitRow).flatMap(({ tokens, usage }) =>
    tokens !== null && kinds.includes(tokens) ? [usage] : [],
  );
}

export const INPUT_DIMENSIONS = dimensionsOf('input', 'cacheRead', 'cacheWrite');
const CACHE_READS = dimensionsOf('cacheRead');
const CACHE_WRITES = dimensionsOf('cacheWrite');
export const OUTPUT_DIMENSIONS = dimensionsOf('output');
const LIMITED = dimensionsOf('input', 'cacheWrite', 'output');

/** All input tokens of a usage, which decide its length tier. */
export function inputTokens(usage: Usage): number {
  return sumOf(INPUT_DIMENSIONS, usage);
}

/** Input tokens that were read from a cache. */
export function cachedTokens(usage: Usage): number {
  return sumOf(CACHE_READS, usage);
}

/** Input tokens that were written to a cache. */
export function cacheWriteTokens(usage: Usage): number {
  return sumOf(CACHE_WRITES, usage);
}

/** All output tokens of a usage. */
export function outputTokens(usage: Usage): number {
  return sumOf(OUTPUT_DIMENSIONS, usage);
}

/**
 * Tokens of a usage that count in limits: input that was not read from a cache, cache writes, and output (specification
 * section 11).
 */
export function limitedTokens(usage: Usage): number {
  return sumOf(LIMITED, usage);
}

function sumOf(dimensions: readonly (keyof Usage)[], usage: Usage): number {
  let tokens = 0;
  for (const dimension of dimensions) tokens += usage[dimension] ?? 0;
  return tokens;
}
