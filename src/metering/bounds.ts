import type { Model } from '../domain/catalog.ts';

/** Upper bounds from the configuration, for costs that the request leaves open. */
export interface Bounds {
  /** Tokens of one picture, of models that do not say. */
  readonly imageTokens: number;
  /** Tokens of one file or part of an unknown kind; undefined: all that the model can read. */
  readonly fileTokens?: number | undefined;
  /** Tokens that a model can read in one pass, of models that do not say. */
  readonly contextTokens: number;
  /** Rounds of the provider's own tools that the gateway asks for if the request names no bound. */
  readonly toolRounds: number;
  /** Tokens that a round of them adds to the input, and that the gateway asks for as most of a fetched page. */
  readonly toolTokens: number;
  /** Tokens behind the stored answers that the request names. Default 0. */
  readonly storedTokens?: number;
  /** Tokens of the sounds in the request; undefined: not measured. */
  readonly soundTokens?: number | undefined;
}

/** Tokens that a model can read in one pass. */
export function windowOf(
  { contextWindow }: Pick<Model, 'contextWindow'>,
  { contextTokens }: Pick<Bounds, 'contextTokens'>,
): number {
  return contextWindow ?? contextTokens;
}

/** Bound of the tokens of one picture. */
export function pictureBound(
  { imageTokens }: Pick<Model, 'imageTokens'>,
  bounds: Pick<Bounds, 'imageTokens'>,
): number {
  return imageTokens ?? bounds.imageTokens;
}

/** Times that tools are used: as the request names them, and the bounds that the gateway sends, `limits.toolRounds` each. */
export interface Rounds {
  readonly named: number;
  readonly sent: number;
}

/** Bounds of the tokens that provider-run tools make a model read. */
export interface ProviderTools {
  readonly rounds: Rounds;
  /** Rounds that add text to the input. */
  readonly growing: Rounds;
  /** Rounds that can be web searches. */
  readonly searches: Rounds;
  /** The most tokens of one find that the request names. */
  readonly contentTokens: number;
  /** Nothing bounds the tokens they add, from the first pass on: servers of MCP bring tools of their own. */
  readonly isOpen: boolean;
}

export const NO_ROUNDS: Rounds = Object.freeze({ named: 0, sent: 0 });
/** Ten, the limit that Anthropic documents for its loop: rounds of the tools that have no bound of their own. */
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

/** Number of rounds. */
export function countOfRounds({ named, sent }: Rounds, { toolRounds }: Pick<Bounds, 'toolRounds'>): number {
  return named + sent * toolRounds;
}

/**
 * The passes of a model over its input: the first, and one more after each round of tools that the provider runs. Pass *i* reads
 * `first` + min(*i*, `growing`) × `growth` tokens, and never more than `most`.
 */
export interface Passes {
  /** Input tokens of the first pass. */
  readonly first: number;
  /** Passes after the first. */
  readonly rounds: number;
  /** Rounds whose finds stay in the input. */
  readonly growing: number;
  /** Tokens that such a round adds. */
  readonly growth: number;
  /** Tokens that the model can read in one pass. */
  readonly most: number;
}

/** Input tokens of some passes together, and of the longest of them. */
interface PassSum {
  readonly input: number;
  readonly longest: number;
}

/** Input tokens of all passes together. */
export function allTokens(passes: Passes): number {
  return sumOfFirst(passes, passes.rounds + 1);
}

/** Input tokens of the last pass, which is the longest. */
export function longestPass({ first, growing, rounds, growth, most }: Passes): number {
  return Math.min(most, first + Math.min(growing, rounds) * growth);
}

/**
 * Sums the passes by length tier: one sum for the passes up to the first boundary, one for those up to the next, and so on.
 * Closed sums, because a client names how many rounds there are. `boundaries` ascend.
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

/** Number of passes of at most `limit` tokens; no pass is shorter than the one before. */
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
