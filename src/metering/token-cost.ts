import { MAX_CALL_LIMIT } from '../domain/call-limits.ts';
import type { Model } from '../domain/catalog.ts';
import { type Micro, micro } from '../domain/credits.ts';
import { holdFor, isPricedByToken, plainCost, type Reach, TIMES_ONE } from '../domain/price.ts';
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

/** Tokens that a template adds around a turn or tool, and around the whole; vendors document 3 to 10. */
export const TURN_OVERHEAD = 16;
export const TOOL_OVERHEAD = 64;
export const REQUEST_OVERHEAD = 64;
/** Input tokens from which on providers summarize a conversation if the request does not say (Anthropic's default). */
export const COMPACTS_AT = 150_000;

/**
 * Numbers of an estimate (specification section 5): bytes of text for a token of input, and most tokens of an answer,
 * and of a round of tools.
 */
const ESTIMATED_BYTES = 3;
const ESTIMATED_OUTPUT = 4_096;
const ESTIMATED_ROUND = 16_384;

/** A request that is charged by token, in numbers. */
export interface TokenPlan {
  /** UTF-8 bytes of its text: those of the body, less the base64 of its media. */
  readonly textBytes: number;
  /** Bound of the tokens that templates add. */
  readonly overhead: number;
  readonly media: Media;
  /** Texts in the request, each read in a separate pass. */
  readonly prompts: number;
  /** Longest answer that it allows, in tokens; undefined: it does not say. */
  readonly maxTokens: number | undefined;
  /** The field that `maxTokens` is named by. */
  readonly maxField: string;
  /** Answers to make. */
  readonly answers: number;
  /** Tokens of thinking that it allows; they count if they are more than `maxTokens`. */
  readonly thinking: number;
  /** Tokens of the request that each answer repeats. */
  readonly echoed: number;
  /** Bytes of a predicted answer: tokens that the model rejects are billed as output. */
  readonly predicted: number;
  readonly tools: ProviderTools;
  /** The dimension of usage that the searches are; absent: `webSearches`. */
  readonly searchedAs?: 'webSearches' | 'webSearchPreviews';
  /** The answer reports each pass of a loop of tools, so that each has its own length tier. */
  readonly reportsPasses: boolean;
  /** Advice on what to leave out or lower for fewer rounds. */
  readonly roundsAdvice: string;
  /** Input tokens from which on the provider summarizes the conversation with one more call; undefined: it does not. */
  readonly compactsAt: number | undefined;
  /** Units, beside the plain ones, that it can be charged by. */
  readonly inputUnits: readonly Unit[] | undefined;
  readonly outputUnits: readonly Unit[] | undefined;
  /** The most that the price can be multiplied by, in millionths. */
  readonly multiplier: number;
}

/** Bound and estimate of the cost of a call, in micro-credits (specification section 5). */
export interface CallCost {
  /** The most that the call can cost. */
  readonly hold: Micro;
  /** The likely cost of the call; at most `hold`. */
  readonly estimate: Micro;
  /** Tokens that the call is likely to use, for limits of tokens; 0 if it is charged by something else. */
  readonly tokens: number;
  /** Tokens of the hold that are for pictures, files and sounds in the request; 0 if there are none. */
  readonly mediaTokens: number;
  /** Parts of the hold, for a refusal that names a call that would fit; undefined for calls without a maximum of tokens. */
  readonly bound?: TokenBound;
}

/** Parts of the hold of a call. */
interface TokenBound {
  readonly model: Model;
  readonly plan: TokenPlan;
  /** Tokens that the model reads in one pass at most. */
  readonly window: number;
  /** Input tokens in the request and behind the ids it names, though the model may not read as many. */
  readonly said: number;
  /** Those of them that are for pictures, files and sounds. */
  readonly media: number;
  readonly passes: Passes;
  readonly searches: number;
  /** The provider summarizes the conversation with one more pass. */
  readonly isSummarized: boolean;
}

/** A request for text alone. */
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

const IMAGES: readonly Unit[] = ['inputImage', 'cachedInputImage'];

/**
 * What a call that is charged by token can cost, and is likely to (specification section 5).
 *
 * Why `hold` is an upper bound: byte-level tokenizers make no token out of less than a byte, and JSON text is never shorter
 * than the UTF-8 text it stands for (an escape is longer than its character), so the bytes of the body bound the tokens of all
 * text in it: messages, tools and schemas. What templates add is bounded for each turn and tool. Inline media is not text: its
 * base64 is taken off, and each part counts the bound of its kind (media.ts). No pass reads more than the model's window. Each
 * round of tools that the provider runs is one more pass, and the gateway sends the bound of rounds that is held. Output is
 * bounded by the maximum that the request names, beside what it predicts. If it names none, the model's
 * `maxOutputTokens` stands in, and the bound is as true as that entry of the catalog.
 */
export function tokenCost(model: Model, plan: TokenPlan, bounds: Bounds): CallCost {
  const window = windowOf(model, bounds);
  const media = mediaOf(plan.media, model, bounds);
  const said = Math.max(0, plan.textBytes + plan.overhead + media) + (bounds.storedTokens ?? 0);
  const passes = passesOf(plan, { said, window }, bounds);
  const bound: TokenBound = {
    model,
    // A stored answer and what tools find may hold pictures.
    plan: bounds.storedTokens || passes.rounds > 0 ? withImages(plan) : plan,
    window,
    said,
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

/** Bound of the tokens of all media of a request. */
function mediaOf({ pictures, files, textBytes, sounds }: Media, model: Model, bounds: Bounds): number {
  const window = windowOf(model, bounds);
  const heard = sounds > 0 ? (bounds.soundTokens ?? window) : 0;
  return pictures * pictureBound(model, bounds) + files * (bounds.fileTokens ?? window) + textBytes + heard;
}

function passesOf(
  { tools, prompts }: TokenPlan,
  { said, window }: { readonly said: number; readonly window: number },
  bounds: Bounds,
): Passes {
  const most = window * prompts;
  return {
    first: tools.isOpen ? most : Math.min(said, most),
    rounds: countOfRounds(tools.rounds, bounds),
    growing: countOfRounds(tools.growing, bounds),
    growth: Math.max(bounds.toolTokens, tools.contentTokens),
    most,
  };
}

/** Hold of a call that has this bound, were `maxTokens` its maximum of output tokens. */
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

/** Likely use of a call that has this bound, were `maxTokens` its maximum of output tokens. */
function expectedUse({ plan, window, passes }: TokenBound, maxTokens: number): ExpectedUse {
  const found = passes.rounds > 0 ? Math.min(ESTIMATED_ROUND, window) : 0;
  return { textBytes: plan.textBytes, more: found, maxTokens, answers: plan.answers };
}

/** Likely use of a call. */
export interface ExpectedUse {
  /** UTF-8 bytes of its text. */
  readonly textBytes: number;
  /** Input tokens beside its text. */
  readonly more?: number;
  /** Longest answer that it allows, in tokens. */
  readonly maxTokens: number;
  /** Answers to make. */
  readonly answers: number;
  /** Use that is counted exactly, such as pictures or characters. */
  readonly besides?: Usage;
}

/**
 * What a call with this hold is likely to cost: a third of its bytes as input tokens at the plain price, and `more` of them;
 * answers of at most 4,096 tokens. The hold itself if tokens have no price; never more.
 */
export function estimatedCost({ price }: Pick<Model, 'price'>, hold: Micro, expected: ExpectedUse): Micro {
  if (!isPricedByToken(price)) return hold;
  const usage: Usage = { input: expectedInput(expected), output: expectedOutput(expected) };
  const { besides } = expected;
  return micro(Math.min(hold, plainCost(price, besides ? { ...besides, ...usage } : usage)));
}

/** Tokens that a call is likely to use, whatever they cost; no more than the largest limit, so that the number is exact. */
export function estimatedTokens(expected: ExpectedUse): number {
  return Math.min(MAX_CALL_LIMIT, expectedInput(expected) + expectedOutput(expected));
}

function expectedInput({ textBytes, more = 0 }: ExpectedUse): number {
  return Math.ceil(Math.max(0, textBytes) / ESTIMATED_BYTES) + more;
}

function expectedOutput({ maxTokens, answers }: ExpectedUse): number {
  return Math.min(maxTokens, ESTIMATED_OUTPUT) * answers;
}

/** The parts of the hold that are for tools which the provider runs, for media, and for the answer. */
export function partsOf(bound: TokenBound): {
  readonly tools: Micro;
  readonly media: Micro;
  readonly answer: Micro;
} {
  const { plan, passes, said, media } = bound;
  const most = plan.maxTokens ?? bound.model.maxOutputTokens;
  const hold = holdOf(bound, most);
  const first = (tokens: number) => Math.min(tokens, passes.most);
  const withoutTools = { ...bound, passes: { ...passes, first: first(said), rounds: 0 }, searches: 0 };
  const text = first(Math.max(0, said - media));
  const withoutMedia = { ...bound, passes: { ...passes, first: plan.tools.isOpen ? passes.first : text } };
  return {
    tools: micro(hold - holdOf(withoutTools, most)),
    media: micro(hold - holdOf(withoutMedia, most)),
    answer: micro(hold - holdOf({ ...bound, plan: { ...plan, thinking: 0, echoed: 0, predicted: 0 } }, 0)),
  };
}

/**
 * The largest maximum of output tokens, below that of the call, whose hold and estimate `fits` takes; null if none from 1 on
 * does. If the call names none, the field that would name it counts as text, too.
 */
export function affordableMaximum(
  call: TokenBound,
  fits: (hold: Micro, estimate: Micro) => boolean,
): number | null {
  const bound = call.plan.maxTokens === undefined ? withMaximum(call) : call;
  const most = bound.plan.maxTokens ?? bound.model.maxOutputTokens;
  const { thinking } = bound.plan;
  const passes = (maximum: number) => {
    const hold = holdOf(bound, maximum);
    return fits(hold, estimatedCost(bound.model, hold, expectedUse(bound, maximum)));
  };
  // Below the budget of its thinking an answer can have more tokens, not fewer.
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

/** A call that names no maximum, with the field that would name it, written with spaces as Python does. */
function withMaximum(bound: TokenBound): TokenBound {
  const { plan, model, passes } = bound;
  const more = `, "${plan.maxField}": ${model.maxOutputTokens}`.length;
  const said = bound.said + more;
  return {
    ...bound,
    said,
    passes: { ...passes, first: plan.tools.isOpen ? passes.most : Math.min(said, passes.most) },
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

const PLAIN: Reach = Object.freeze({});

/** Units without a price of their own are left out: those that they refine are in every hold. */
function reachOf({ plan, model: { price } }: TokenBound): Reach {
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
  return { ...plan, inputUnits: [...(plan.inputUnits ?? []), ...IMAGES] };
}

const PICTURES: readonly Unit[] = ['inputImage', 'cachedInputImage'];
const SOUND: readonly Unit[] = ['inputAudio', 'cachedInputAudio'];
const LONG_CACHE: readonly Unit[] = ['cacheWrite1h'];

/** Units, beside the plain ones, by which input of these kinds can be charged; undefined for text alone. */
export function inputUnits(
  { hasPictures, hasSound }: { readonly hasPictures: boolean; readonly hasSound: boolean },
  asksLongCache: boolean,
): readonly Unit[] | undefined {
  if (!hasPictures && !hasSound && !asksLongCache) return undefined;
  return [...(hasPictures ? PICTURES : []), ...(hasSound ? SOUND : []), ...(asksLongCache ? LONG_CACHE : [])];
}
