import { recomputedCharge } from '../../../src/cli/reconcile-charges.ts';
import type { LedgerEntry } from '../../../src/domain/ledger-entry.ts';
import type { CountedCall, Try } from '../stand-ins/agents/agent-provider.ts';

const DIMENSIONS = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output'] as const;

/**
 * Differences between ledger rows and the provider's own count of the same calls, one line each: a call without a row
 * or with two, a row without a call, a different count, a charge other than count × price. No two outputs have the same
 * count.
 */
export function differences(rows: readonly LedgerEntry[], calls: readonly CountedCall[]): string[] {
  const found: string[] = [];
  const left = new Set(rows);
  for (const { path, count } of calls) {
    const row = [...left].find(({ usage }) => (usage.output ?? 0) === (count?.output ?? 0));
    if (!row) {
      found.push(`${path}: no row with ${count?.output ?? 0} tokens of output`);
      continue;
    }
    left.delete(row);
    for (const name of count ? DIMENSIONS : []) {
      const charged = row.usage[name] ?? 0;
      if (charged !== count?.[name])
        found.push(`${path}: ${name} ${charged}, by the provider ${count?.[name]}`);
    }
    if (count && row.estimated) found.push(`${path}: an estimate, though the provider reported`);
    if (!count && row.credits !== 0) found.push(`${path}: charged, though the provider counted nothing`);
    if (-BigInt(row.credits) !== recomputedCharge(row))
      found.push(`${path}: the charge is not count × price`);
  }
  for (const { endpoint, usage } of left) found.push(`${endpoint}: a row too many, ${JSON.stringify(usage)}`);
  return found;
}

/** Name of a target at the n-th place: `openai-2`. */
const placeOf = (target: string) => Number(target.split('-').at(-1));

/**
 * Differences, one line each, between the attempts in the rows of one client, whose calls are sequential, and the
 * answers of the provider's places. Also lists each change of place that no death explains.
 */
export function attemptDifferences(rows: readonly LedgerEntry[], tries: readonly Try[]): string[] {
  const found: string[] = [];
  const dead = new Set<number>();
  const last = new Map<unknown, number>();
  const left = [...tries];
  for (const row of rows) {
    const { id, status, upstream = '', attempts = [{ target: upstream, status }] } = row;
    // The place doesn't see a refused connection.
    const shown = attempts.filter((one) => one.status !== null);
    const answers = left.splice(0, shown.length);
    const own = shown.map((one) => `${placeOf(one.target)} ${one.status}`).join();
    const seen = answers.map((one) => `${one.place} ${one.status}`).join();
    if (own !== seen) found.push(`${id}: attempts ${own}, by the provider ${seen}`);
    const failed = answers.at(-1)?.isAnswer ? attempts.slice(0, -1) : attempts;
    for (const { target } of failed) dead.add(placeOf(target));
    if (failed === attempts) {
      if (row.credits !== 0) found.push(`${id}: charged, though every try failed`);
      continue;
    }
    const { place = -1, model } = answers.at(-1) ?? {};
    const before = last.get(model);
    if (before !== undefined && before !== place && !dead.has(before))
      found.push(`${id}: left place ${before}, which lives`);
    if (dead.has(place)) found.push(`${id}: answered by place ${place}, which has failed`);
    last.set(model, place);
  }
  if (left.length > 0) found.push(`${left.length} tries of no row`);
  return found;
}
