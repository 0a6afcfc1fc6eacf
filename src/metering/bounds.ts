import type { Model } from '../domain/catalog.ts';

/** Configured upper bounds for costs that the request leaves open. */
export interface Bounds {
  /** Tokens of one image, for models without a value. */
  readonly imageTokens: number;
  /** Tokens of one file or part of unknown kind; undefined: the model's context window. */
  readonly fileTokens?: number | undefined;
  /** Context window, for models without a value. */
  readonly contextTokens: number;
  /** Rounds of provider-run tools that the gateway requests if the request sets no bound. */
  readonly toolRounds: number;
  /** Tokens that one such round adds to the input; also the limit the gateway requests for a fetched page. */
  readonly toolTokens: number;
  /** Tokens of stored answers that the request names. Default: 0. */
  readonly storedTokens?: number;
  /** Tokens of audio in the request; undefined: not measured. */
  readonly soundTokens?: number | undefined;
}

/** Context window of a model. */
export function windowOf(
  { contextWindow }: Pick<Model, 'contextWindow'>,
  { contextTokens }: Pick<Bounds, 'contextTokens'>,
): number {
  return contextWindow ?? contextTokens;
}

/** Bound of the tokens of one image. */
export function pictureBound(
  { imageTokens }: Pick<Model, 'imageTokens'>,
  bounds: Pick<Bounds, 'imageTokens'>,
): number {
  return imageTokens ?? bounds.imageTokens;
}

/** Tool rounds: `named` by the request, plus `sent` bounds of `limits.toolRounds` each. */
export interface Rounds {
  readonly named: number;
  readonly sent: number;
}

/** Bounds of the tokens that provider-run tools add to the input. */
export interface ProviderTools {
  readonly rounds: Rounds;
  /** Rounds that add text to the input. */
  readonly growing: Rounds;
  /** Rounds that can be web searches. */
  readonly searches: Rounds;
  /** Largest result, in tokens, that the request allows. */
  readonly contentTokens: number;
  /** Unbounded from the first pass on: MCP servers bring tools. */
  readonly isOpen: boolean;
}

export const NO_ROUNDS: Rounds = Object.freeze({ named: 0, sent: 0 });
/** Rounds of tools without a bound: Anthropic documents a limit of ten for its loop. */
export const UNNAMED_ROUNDS: Rounds = Object.freeze({ named: 10, sent: 0 });

export const NO_TOOLS: ProviderTools = Object.freeze({
  rounds: NO_ROUNDS,
  growing: NO_ROUNDS,
  searches: NO_ROUNDS,
  contentTokens: 0,
  isOpen: false,
});

export function addRounds(some: Rounds, more: Rounds): Rounds {
  return { named: some.named + more.named, sent: some.sent + more.sent };
}

export function countOfRounds({ named, sent }: Rounds, { toolRounds }: Pick<Bounds, 'toolRounds'>): number {
  return named + sent * toolRounds;
}

/**
 * Passes of a model over its input: the first, and one after each round of provider-run tools. Pass *i* reads `first` +
 * min(*i*, `growing`) × `growth` tokens, at most `most`.
 */
export interface Passes {
  /** Input tokens of the first pass. */
  readonly first: number;
  /** Passes after the first. */
  readonly rounds: number;
  /** Rounds whose results stay in the input. */
  readonly growing: number;
  /** Tokens added by such a round. */
  readonly growth: number;
  /** Context window. */
  readonly most: number;
}

/** Total input tokens of a group of passes, and of its longest pass. */
interface PassSum {
  readonly input: number;
  readonly longest: number;
}

/** Total input tokens of all passes. */
export function allTokens(passes: Passes): number {
  return sumOfFirst(passes, passes.rounds + 1);
}

/** Input tokens of the last pass, which is the longest. */
export function longestPass({ first, growing, rounds, growth, most }: Passes): number {
  return Math.min(most, first + Math.min(growing, rounds) * growth);
}

/**
 * Sums the passes by length tier: one sum up to the first boundary, one up to the next, and so on. Uses closed sums,
 * because the client chooses the number of rounds. `boundaries` ascend.
 */
export function sumsByTier(passes: Passes, boundaries: readonly number[]): PassSum[] {
  const sums: PassSum[] = [];
  let before = 0;
  for (const boundary of [...boundaries, Number.POSITIVE_INFINITY]) {
    const count = countUpTo(passes, boundary);
    if (count === before) continue;
    const input = sumOfFirst(passes, count) - sumOfFirst(passes, before);
    sums.push({ input, longest: tokensAt(passes, count - 1) });
    before = count;
  }
  return sums;
}

function tokensAt({ first, growing, growth, most }: Passes, index: number): number {
  return Math.min(most, first + Math.min(growing, index) * growth);
}

/** Number of passes of at most `limit` tokens; passes never get shorter. */
function countUpTo(passes: Passes, limit: number): number {
  const { first, growth, rounds } = passes;
  if (longestPass(passes) <= limit) return rounds + 1;
  return first > limit ? 0 : Math.floor((limit - first) / growth) + 1;
}

function sumOfFirst(passes: Passes, count: number): number {
  const { first, growing, growth, most } = passes;
  const untilMost = growth > 0 ? Math.floor((most - first) / growth) + 1 : Number.POSITIVE_INFINITY;
  const longer = Math.min(count, growing + 1, untilMost);
  const sum = longer * first + growth * ((longer * (longer - 1)) / 2);
  return sum + (count - longer) * longestPass(passes);
}
