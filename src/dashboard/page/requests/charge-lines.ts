import type { EntryView, UsageView } from '../../../api/ledger/entry-view.ts';
import { UNITS, type Unit } from '../../../domain/units.ts';
import { count, credits } from '../format/credits.ts';

/**
 * How a charge comes about, a line for each unit: `10 input tokens × 1.00 per 1,000,000 = 0.00001`. Lines are rounded
 * to six decimals, the charge is rounded once over all of them.
 */
export function chargeLines(usage: UsageView, { price, multiplier }: EntryView): string[] {
  const lines = (Object.entries(price ?? {}) as [Unit, number][]).flatMap(([unit, amount]) => {
    const { wire, per, words, isFee } = UNITS[unit] ?? {};
    const used = unit === 'request' ? 1 : (usage[wire as keyof UsageView] ?? 0);
    if (wire === undefined || used === 0 || amount === 0) return [];
    const times = isFee || multiplier === null ? 1 : multiplier;
    const each = `${credits(amount)}${per === 1 ? '' : ` per ${count(per)}`}`;
    const factor = times === 1 ? '' : ` × ${times}`;
    return [`${count(used)} ${words} × ${each}${factor} = ${credits((used * amount * times) / per)}`];
  });
  return lines.length > 0 ? lines : ['nothing is charged'];
}
