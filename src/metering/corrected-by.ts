import type { Usage } from '../domain/ledger-entry.ts';

/**
 * The estimate of a stream that ended early, with what was reported by then laid over it. The output that was reported
 * may be of long before the end (Anthropic's of the start is a token or so): the larger of the two counts.
 */
export function correctedBy(estimate: Usage, reported: Usage | undefined): Usage {
  if (!reported) return estimate;
  const output = Math.max(estimate.output ?? 0, reported.output ?? 0);
  return { ...estimate, ...reported, output };
}
