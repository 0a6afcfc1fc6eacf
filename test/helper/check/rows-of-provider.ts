import { recomputedCharge } from '../../../src/cli/reconcile-charges.ts';
import type { LedgerEntry } from '../../../src/domain/ledger-entry.ts';
import type { CountedCall } from '../stand-ins/agents/agent-provider.ts';

const DIMENSIONS = ['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h', 'output'] as const;

/**
 * Differences between ledger rows and the provider's own count of the same calls, a line each: a call without a row or with two, a
 * row without a call, another count, another charge than count × price. The provider counts no two outputs alike.
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
