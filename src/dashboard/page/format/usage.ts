import type { UsageView } from '../../../api/ledger/entry-view.ts';
import { UNITS, type Unit } from '../../../domain/units.ts';
import { count, credits } from './credits.ts';

/** What was used: `8 input tokens, 1 request`. */
export function usageWords(usage: UsageView): string {
  return Object.entries(usage)
    .filter(([, amount]) => amount > 0)
    .map(([unit, amount]) => `${count(amount)} ${unitWords(unit, amount)}`)
    .join(', ');
}

/** What was used, for a table: `8 input, 26 output`. */
export function shortUsage({ requests: _, ...usage }: UsageView): string {
  return usageWords(usage).replace(/ tokens?/g, '');
}

/** An amount with its unit: `input_tokens` → `17 input tokens`, `1 input token`, `1 web search`. */
function unitWords(unit: string, amount: number): string {
  const words = unit.replaceAll('_', ' ');
  return amount === 1 ? words.replace(/(?<=ch)es$|s$/, '') : words;
}

/** A unit price: `1.50 per 1,000,000 input tokens`. */
export function priceWords(unit: string, amount: number): string {
  const { per, words } = UNITS[unit as Unit] ?? { per: 1, words: unit };
  return `${credits(amount)} per ${per === 1 ? '' : `${count(per)} `}${words}`;
}
