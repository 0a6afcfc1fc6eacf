import type { Loss, Model } from './model.ts';
import type { Snapshot } from './snapshot.ts';

/** What the ids of rows of estimated calls begin with (estimated-calls.ts). */
const PREFIX = 'estimated-';

export function isEstimated({ id }: { readonly id: string }): boolean {
  return id.startsWith(PREFIX);
}

/** Invariant 3 of calls that were told to the ledger alone: settled ones have one charge, what it was told; others none. */
export function checkEstimatedCalls({ ledger }: Snapshot, model: Model): string[] {
  const faults: string[] = [];
  const rows = Map.groupBy(ledger.filter(isEstimated), ({ id }) => id);
  for (const { requestId, cost, state } of model.estimatedCalls) {
    const [row, ...more] = rows.get(requestId) ?? [];
    rows.delete(requestId);
    if (more.length > 0) faults.push(`${requestId} has ${more.length + 1} rows`);
    // Redis lost that it was settled: its hold came back, and expired.
    if (model.losses.some(({ revived }) => revived.has(requestId))) continue;
    if (state !== 'settled') {
      const isFree = row === undefined || (row.type === 'expired_hold' && row.credits === 0);
      if (!isFree) faults.push(`${requestId} was ${state} and has a row: ${JSON.stringify(row)}`);
    } else if (row === undefined) {
      if (!isLost(requestId, model.losses)) faults.push(`${requestId} was settled and has no row`);
    } else if (row.type !== 'charge' || row.credits + cost !== 0) {
      faults.push(`${requestId} cost ${cost}; its row is ${JSON.stringify(row)}`);
    }
  }
  for (const id of rows.keys()) faults.push(`${id} was never told to the ledger`);
  return faults;
}

/** The driver lives: what went with the last moments of a Redis it makes good, but not what went with all of it. */
function isLost(id: string, losses: readonly Loss[]): boolean {
  return losses.some(({ entries, trouble }) => entries.has(id) && !trouble);
}
