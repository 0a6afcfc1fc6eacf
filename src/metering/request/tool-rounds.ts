import type { Bounds } from './bounds.ts';

/** Times that tools are used: as the request names them, and the bounds that the gateway sends, `limits.toolRounds` each. */
export interface Rounds {
  readonly named: number;
  readonly sent: number;
}

/** What the tools that a provider runs can make a model read. */
export interface ProviderTools {
  readonly rounds: Rounds;
  /** Rounds that add text to the input. */
  readonly growing: Rounds;
  /** Rounds that can be web searches. */
  readonly searches: Rounds;
  /** The most tokens of one find that the request names. */
  readonly contentTokens: number;
  /** Nothing bounds what they add, from the first pass on: servers of MCP bring tools of their own. */
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
