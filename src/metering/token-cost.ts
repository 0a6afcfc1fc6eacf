import { MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import type { Model } from '../domain/catalog.ts';
import { type Micro, micro } from '../domain/credits.ts';
import { type BillableUnits, holdFor, isPricedByToken, plainCost, TIMES_ONE } from '../domain/price.ts';
import type { Unit, Usage } from '../domain/units.ts';
import {
  allTokens,
  type Bounds,
  countOfRounds,
  longestPass,
  NO_TOOLS,
  type Passes,
  type ProviderTools,
  pictureBound,
  sumsByTier,
  windowOf,
} from './bounds.ts';
import { type Media, NO_MEDIA } from './media.ts';

/** Tokens that a template adds to a turn, a tool and the request; vendors document 3 to 10. */
export const TURN_OVERHEAD = 16;
export const TOOL_OVERHEAD = 64;
export const REQUEST_OVERHEAD = 64;
/** Input tokens at which a provider summarizes a conversation by default (Anthropic's value). */
export const COMPACTS_AT = 150_000;

// Estimates (specification section 5): text bytes per input token, and most tokens of an answer and of a tool round.
const ESTIMATED_BYTES = 3;
const ESTIMATED_OUTPUT = 4_096;
const ESTIMATED_ROUND = 16_384;

/** The figures of a token-priced request. */
export interface TokenPlan {
  /** UTF-8 bytes of the body without the base64 of media. */
  readonly textBytes: number;
  /** Bound of the tokens that templates add. */
  readonly overhead: number;
  readonly media: Media;
  /** Texts in the request; the model reads each in a separate pass. */
  readonly prompts: number;
  /** Output limit in the request; undefined if it names none. */
  readonly maxTokens: number | undefined;
  /** Field that carries `maxTokens`. */
  readonly maxField: string;
  /** Number of answers requested. */
  readonly answers: number;
  /** Thinking budget in tokens; counts only if it exceeds `maxTokens`. */
  readonly thinking: number;
  /** Prompt tokens that each answer repeats. */
  readonly echoed: number;
  /** Bytes of a predicted answer: tokens that the model rejects are billed as output. */
  readonly predicted: number;
  readonly tools: ProviderTools;
  /** Usage dimension of searches; default `webSearches`. */
  readonly searchedAs?: 'webSearches' | 'webSearchPreviews';
  /** The answer reports each pass of a tool loop, so each pass has its own length tier. */
  readonly reportsPasses: boolean;
  /** How to get fewer rounds, for refusal messages. */
  readonly roundsAdvice: string;
  /** Input tokens at which the provider summarizes the conversation with an extra call; undefined if it never does. */
  readonly compactsAt: number | undefined;
  /** Units that can apply in addition to the plain ones. */
  readonly inputUnits: readonly Unit[] | undefined;
  readonly outputUnits: readonly Unit[] | undefined;
  /** Highest price multiplier, in millionths. */
  readonly multiplier: number;
}

/** Bound and estimate of the cost of a call, in micro-credits (specification section 5). */
export interface CallCost {
  /** Upper bound. */
  readonly hold: Micro;
  /** At most `hold`. */
  readonly estimate: Micro;
  /** Estimated tokens, for token limits; 0 if tokens are not charged. */
  readonly tokens: number;
  /** Input tokens held for pictures, files and sounds. */
  readonly mediaTokens: number;
  /** Parts of the hold, so a refusal can suggest a call that fits; absent for calls without an output limit. */
  readonly bound?: TokenBound;
}

/** Parts of a hold. */
interface TokenBound {
  readonly model: Model;
  readonly plan: TokenPlan;
  /** Most tokens that the model reads in one pass. */
  readonly window: number;
  /** Input tokens in the request and behind the ids it names; can exceed `window`. */
  readonly inputTokens: number;
  /** The share of `inputTokens` for pictures, files and sounds. */
  readonly media: number;
  readonly passes: Passes;
  readonly searches: number;
  /** The provider summarizes the conversation in an extra pass. */
  readonly isSummarized: boolean;
}

/** Defaults: a text request without tools. */
export const TEXT_ONLY: TokenPlan = Object.freeze({
  textBytes: 0,
  overhead: REQUEST_OVERHEAD,
  media: NO_MEDIA,
  prompts: 1,
  maxTokens: undefined,
  maxField: 'max_tokens',
  answers: 1,
  thinking: 0,
  echoed: 0,
  predicted: 0,
  tools: NO_TOOLS,
  reportsPasses: false,
  roundsAdvice: '',
  compactsAt: undefined,
  inputUnits: undefined,
  outputUnits: undefined,
  multiplier: TIMES_ONE,
});

const PICTURES: readonly Unit[] = ['inputImage', 'cachedInputImage'];
const SOUND: readonly Unit[] = ['inputAudio', 'cachedInputAudio'];
const LONG_CACHE: readonly Unit[] = ['cacheWrite1h'];

/**
 * Bounds and estimates the cost of a token-priced call (specification section 5). Why `hold` is an upper bound:
 *
 * - Text: a token is at least one byte, and JSON is never shorter than the UTF-8 text it encodes. So the body's bytes bound
 *   the tokens of messages, tools and schemas. Template tokens have a bound for each turn and tool.
 * - Media: base64 is not text. Each part counts the bound of its kind instead (media.ts).
 * - Passes: none reads more than the model's window. Each round of provider-run tools adds one pass, and the gateway sends
 *   the limit of rounds that it holds.
 * - Output: the limit in the request plus any prediction. Without a limit, the catalog's `maxOutputTokens` counts, and the
 *   bound is only as good as that entry.
 */
export function tokenCost(model: Model, plan: TokenPlan, bounds: Bounds): CallCost {
  const window = windowOf(model, bounds);
  const media = mediaOf(plan.media, model, bounds);
  const inputTokens = Math.max(0, plan.textBytes + plan.overhead + media) + (bounds.storedTokens ?? 0);
  const passes = passesOf(plan, { inputTokens, window }, bounds);
  const bound: TokenBound = {
    model,
    // Stored answers and tool results can contain pictures.
    plan: bounds.storedTokens || passes.rounds > 0 ? withImages(plan) : plan,
    window,
    inputTokens,
    media,
    passes,
    searches: countOfRounds(plan.tools.searches, bounds),
    isSummarized: plan.compactsAt !== undefined && longestPass(passes) >= plan.compactsAt,
  };
  const most = plan.maxTokens ?? model.maxOutputTokens;
  const hold = holdOf(bound, most);
  const expected = expectedUse(bound, most);
  return {
    hold,
    estimate: estimatedCost(model, hold, expected),
    tokens: estimatedTokens(expected),
    mediaTokens: Math.min(media, passes.most),
    bound,
  };
}

function mediaOf({ pictures, files, textBytes, sounds }: Media, model: Model, bounds: Bounds): number {
  const window = windowOf(model, bounds);
  const heard = sounds > 0 ? (bounds.soundTokens ?? window) : 0;
  return pictures * pictureBound(model, bounds) + files * (bounds.fileTokens ?? window) + textBytes + heard;
}

function passesOf(
  { tools, prompts }: TokenPlan,
  { inputTokens, window }: { readonly inputTokens: number; readonly window: number },
  bounds: Bounds,
): Passes {
  const most = window * prompts;
  return {
    first: tools.isOpen ? most : Math.min(inputTokens, most),
    rounds: countOfRounds(tools.rounds, bounds),
    growing: countOfRounds(tools.growing, bounds),
    growth: Math.max(bounds.toolTokens, tools.contentTokens),
    most,
  };
}

/** Hold of the call if its output limit were `maxTokens`. */
function holdOf(bound: TokenBound, maxTokens: number): Micro {
  const { plan, model, passes, window, isSummarized, searches } = bound;
  const reach = reachOf(bound);
  const output = outputOf(bound, maxTokens);
  const summary = isSummarized ? window : 0;
  const fees = searches > 0 ? { [plan.searchedAs ?? 'webSearches']: searches } : undefined;
  if (!plan.reportsPasses || model.price.tiers.length === 0)
    return holdFor(model.price, { input: allTokens(passes) + summary, output, ...fees }, reach);
  const longest = Math.max(longestPass(passes), summary);
  const sums = sumsByTier(
    passes,
    model.price.tiers.map(({ above }) => above),
  );
  if (summary > 0) sums.push({ input: summary, longest: summary });
  const parts = sums.map(({ input, longest: length }) =>
    holdFor(model.price, { input, requests: 0 }, { ...reach, longest: length }),
  );
  const rest = holdFor(model.price, { output, ...fees }, { ...reach, longest });
  return micro(
    Math.min(
      Number.MAX_SAFE_INTEGER,
      parts.reduce((sum, part) => sum + part, rest as number),
    ),
  );
}

/** Expected use of the call if its output limit were `maxTokens`. */
function expectedUse({ plan, window, passes }: TokenBound, maxTokens: number): ExpectedUse {
  const found = passes.rounds > 0 ? Math.min(ESTIMATED_ROUND, window) : 0;
  return { textBytes: plan.textBytes, more: found, maxTokens, answers: plan.answers };
}

/** Basis of an estimate. */
export interface ExpectedUse {
  /** UTF-8 bytes of the text. */
  readonly textBytes: number;
  /** Input tokens in addition to the text. */
  readonly more?: number;
  /** Output limit of one answer, in tokens. */
  readonly maxTokens: number;
  /** Number of answers requested. */
  readonly answers: number;
  /** Use with an exact count, such as pictures or characters. */
  readonly besides?: Usage;
}

/**
 * Estimates the cost of a call at plain prices: one input token for three bytes, plus `more`, and at most 4,096 output
 * tokens for each answer. Returns at most `hold`, and `hold` itself if tokens have no price.
 */
export function estimatedCost({ price }: Pick<Model, 'price'>, hold: Micro, expected: ExpectedUse): Micro {
  if (!isPricedByToken(price)) return hold;
  const usage: Usage = { input: expectedInput(expected), output: expectedOutput(expected) };
  const { besides } = expected;
  return micro(Math.min(hold, plainCost(price, besides ? { ...besides, ...usage } : usage)));
}

/** Estimated tokens of a call, whatever they cost; capped at the largest limit so the number stays exact. */
export function estimatedTokens(expected: ExpectedUse): number {
  return Math.min(MAX_CALL_LIMIT, expectedInput(expected) + expectedOutput(expected));
}

function expectedInput({ textBytes, more = 0 }: ExpectedUse): number {
  return Math.ceil(Math.max(0, textBytes) / ESTIMATED_BYTES) + more;
}

function expectedOutput({ maxTokens, answers }: ExpectedUse): number {
  return Math.min(maxTokens, ESTIMATED_OUTPUT) * answers;
}

/** Shares of the hold for provider-run tools, media and output. */
export function partsOf(bound: TokenBound): {
  readonly tools: Micro;
  readonly media: Micro;
  readonly answer: Micro;
} {
  const { plan, passes, inputTokens, media } = bound;
  const most = plan.maxTokens ?? bound.model.maxOutputTokens;
  const hold = holdOf(bound, most);
  const first = (tokens: number) => Math.min(tokens, passes.most);
  const withoutTools = { ...bound, passes: { ...passes, first: first(inputTokens), rounds: 0 }, searches: 0 };
  const text = first(Math.max(0, inputTokens - media));
  const withoutMedia = { ...bound, passes: { ...passes, first: plan.tools.isOpen ? passes.first : text } };
  return {
    tools: micro(hold - holdOf(withoutTools, most)),
    media: micro(hold - holdOf(withoutMedia, most)),
    answer: micro(hold - holdOf({ ...bound, plan: { ...plan, thinking: 0, echoed: 0, predicted: 0 } }, 0)),
  };
}

/**
 * Largest output limit below the call's own, and at most the model's, for which `fits` holds; null if not even 1. If the call names no limit, the
 * added field counts as text.
 */
export function affordableMaximum(
  call: TokenBound,
  fits: (hold: Micro, estimate: Micro) => boolean,
): number | null {
  const bound = call.plan.maxTokens === undefined ? withMaximum(call) : call;
  const { maxOutputTokens } = bound.model;
  const asked = bound.plan.maxTokens ?? maxOutputTokens;
  // A provider refuses more than the model's own maximum. One of 0 is unknown.
  const most = maxOutputTokens > 0 ? Math.min(asked, maxOutputTokens + 1) : asked;
  const { thinking } = bound.plan;
  const passes = (maximum: number) => {
    const hold = holdOf(bound, maximum);
    return fits(hold, estimatedCost(bound.model, hold, expectedUse(bound, maximum)));
  };
  // A limit below the thinking budget allows more output, not less.
  let fitting = Math.max(1, thinking <= most ? thinking : 1);
  let beyond = most;
  if (fitting >= beyond || !passes(fitting)) return null;
  while (beyond - fitting > 1) {
    const middle = fitting + Math.floor((beyond - fitting) / 2);
    if (passes(middle)) fitting = middle;
    else beyond = middle;
  }
  return fitting;
}

/** Adds an output limit to a call that names none, with the spaces that Python writes. */
function withMaximum(bound: TokenBound): TokenBound {
  const { plan, model, passes } = bound;
  const more = `, "${plan.maxField}": ${model.maxOutputTokens}`.length;
  const inputTokens = bound.inputTokens + more;
  return {
    ...bound,
    inputTokens,
    passes: { ...passes, first: plan.tools.isOpen ? passes.most : Math.min(inputTokens, passes.most) },
    plan: { ...plan, textBytes: plan.textBytes + more },
  };
}

function outputOf({ plan, model, window, isSummarized }: TokenBound, maxTokens: number): number {
  const thinking = plan.thinking > maxTokens ? plan.thinking : 0;
  const echoed = Math.min(plan.echoed, window);
  const predicted = Math.min(plan.predicted, window);
  const answers = (maxTokens + thinking + echoed + predicted) * plan.answers;
  return answers + (isSummarized ? model.maxOutputTokens : 0);
}

const PLAIN: BillableUnits = Object.freeze({});

/** Leaves out units without a price: every hold has the plain units that they refine. */
function reachOf({ plan, model: { price } }: TokenBound): BillableUnits {
  const { inputUnits, outputUnits, multiplier } = plan;
  if (!inputUnits && !outputUnits && multiplier === TIMES_ONE) return PLAIN;
  const input = inputUnits?.filter((unit) => price.named.has(unit)) ?? [];
  const output = outputUnits?.filter((unit) => price.named.has(unit)) ?? [];
  return {
    ...(input.length > 0 ? { input } : {}),
    ...(output.length > 0 ? { output } : {}),
    multiplier,
  };
}

function withImages(plan: TokenPlan): TokenPlan {
  return { ...plan, inputUnits: [...(plan.inputUnits ?? []), ...PICTURES] };
}

/** Input units that can apply in addition to the plain ones; undefined for text alone. */
export function inputUnits(
  { hasPictures, hasSound }: { readonly hasPictures: boolean; readonly hasSound: boolean },
  asksLongCache: boolean,
): readonly Unit[] | undefined {
  if (!hasPictures && !hasSound && !asksLongCache) return undefined;
  return [...(hasPictures ? PICTURES : []), ...(hasSound ? SOUND : []), ...(asksLongCache ? LONG_CACHE : [])];
}
