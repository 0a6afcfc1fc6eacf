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
export interface PassSum {
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
