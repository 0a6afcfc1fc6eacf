/** Tokens of one pass of a model over the conversation, as a provider counts them. */
export interface Pass {
  /** Input neither read from a cache nor written to one. */
  readonly plain: number;
  readonly cached: number;
  readonly written: number;
  /** Written for longer than the shortest life. */
  readonly writtenLong: number;
  readonly output: number;
}

/** Usage of a call by the provider's own count. */
export interface Use {
  readonly passes: readonly Pass[];
  readonly searches: number;
  readonly isFlex: boolean;
  /** The answer reports each pass, so each pass is priced by its own length. */
  readonly tellsPasses: boolean;
  /** A refusal before any output, whose tokens are free. */
  readonly isRefused: boolean;
}

/** Bounds of the provider's models, as in the configuration of the gateways. */
export const WINDOW = 60_000;
export const MAX_OUTPUT = 4_000;
export const IMAGE_TOKENS = 5_000;
export const TOOL_TOKENS = 10_000;
/** Input from which a pass or call has the long price. */
const LONG = 20_000;

/** Credits per million tokens, and per thousand searches, in the form of a config file. */
const PRICE = `
      input: [{ price: 2 }, { above: ${LONG}, price: 4 }]
      cachedInput: [{ price: 0.2 }, { above: ${LONG}, price: 0.4 }]
      cacheWrite: [{ price: 2.5 }, { above: ${LONG}, price: 5 }]
      cacheWrite1h: [{ price: 4 }, { above: ${LONG}, price: 8 }]
      output: [{ price: 10 }, { above: ${LONG}, price: 15 }]
      webSearch: 10`;

/** Prices in tenths of a micro-credit a token. */
const SHORT_TENTHS = { plain: 20, cached: 2, written: 25, writtenLong: 40, output: 100 };
const LONG_TENTHS = { plain: 40, cached: 4, written: 50, writtenLong: 80, output: 150 };
const SEARCH_MICROS = 10_000;
const KINDS = ['plain', 'cached', 'written', 'writtenLong', 'output'] as const;

/** Input tokens of a pass. */
export function inputOf({ plain, cached, written, writtenLong }: Pass): number {
  return plain + cached + written + writtenLong;
}

/** Sum of some passes. */
export function sumOf(passes: readonly Pass[]): Pass {
  const sum = { plain: 0, cached: 0, written: 0, writtenLong: 0, output: 0 };
  for (const pass of passes) for (const kind of KINDS) sum[kind] += pass[kind];
  return sum;
}

/** The bill for a call in micro-credits: rounded up once. Flex processing is half the price of tokens, not of searches. */
export function billOf({ passes, searches, isFlex, tellsPasses, isRefused }: Use): number {
  const priced = tellsPasses ? passes : [sumOf(passes)];
  let tenths = 0;
  for (const pass of isRefused ? [] : priced) {
    const price = inputOf(pass) > LONG ? LONG_TENTHS : SHORT_TENTHS;
    for (const kind of KINDS) tenths += pass[kind] * price[kind];
  }
  return Math.ceil((isFlex ? tenths / 2 : tenths) / 10 + searches * SEARCH_MICROS);
}

/** Sections `limits`, `upstreams` and `models` of a config file whose models are the provider's, before `url`. */
export function billedConfig(url: string): string {
  const model = (name: string, more = '') => `  ${name}:
    upstream: ${name}
    category: text
    maxOutputTokens: ${MAX_OUTPUT}
    contextWindow: ${WINDOW}
    imageTokens: ${IMAGE_TOKENS}${more}
    price:${PRICE}
`;
  // Long enough that even a busy machine reads an abandoned call to its end.
  return `limits: { toolTokens: ${TOOL_TOKENS}, readOnMs: 600000 }
upstreams:
  openai-like: { url: "${url}", apiKey: secret, format: openai }
  anthropic-like: { url: "${url}", apiKey: secret, format: anthropic }
models:
${model('openai-like', '\n    serviceTiers: { flex: 0.5 }')}${model('anthropic-like')}`;
}
