import type { ModelView, UnitPriceView } from '../../../api/models/model-view.ts';
import { UNITS, type Unit } from '../../../domain/units.ts';
import { count, credits } from '../format/credits.ts';

type Price = ModelView['price'];

/** Units with a column of their own. */
const IN_COLUMNS: ReadonlySet<string> = new Set<Unit>(['input', 'cachedInput', 'output']);

/** A unit price in a table: of prices by length the first, of prices by size the span. */
export function shortPrice(amount: UnitPriceView): string {
  if (typeof amount === 'number') return credits(amount);
  if (isByLength(amount)) return `from ${credits(amount[0]?.price ?? 0)}`;
  const [least, most] = spanOf(amount);
  return least === most ? credits(least) : `${credits(least)} to ${credits(most)}`;
}

/** The price by which a column is sorted. */
export function firstPrice(amount: UnitPriceView): number {
  if (typeof amount === 'number') return amount;
  return isByLength(amount) ? (amount[0]?.price ?? 0) : spanOf(amount)[0];
}

/** Prices without a column, in words: `0.01 per request, 12.50 cache write`. */
export function furtherPrices(price: Price): string {
  return entriesOf(price)
    .filter(([unit]) => !IN_COLUMNS.has(unit))
    .map(([unit, amount]) => {
      const { tokens, words } = UNITS[unit];
      return `${shortPrice(amount)} ${tokens === null ? perUnit(unit) : words.replace(' tokens', '')}`;
    })
    .join(', ');
}

/** Every price of a model, a line each, with the steps of those by length and by size. */
export function priceLines(price: Price): readonly string[] {
  return entriesOf(price).flatMap(([unit, amount]) => {
    if (typeof amount === 'number') return [`${credits(amount)} ${perUnit(unit)}`];
    if (isByLength(amount)) {
      return amount.map(({ above, price: step }) => {
        const when = above === undefined ? '' : `, if the input is longer than ${count(above)} tokens`;
        return `${credits(step)} ${perUnit(unit)}${when}`;
      });
    }
    return Object.entries(amount).map(([variant, step]) => `${credits(step)} ${perUnit(unit)}, ${variant}`);
  });
}

/** The price as a multiple of the list price, by the first unit that both name: `×1.2`; undefined if there is none. */
export function markupWords(price: Price, list: Price | null | undefined): string | undefined {
  for (const [unit, amount] of entriesOf(price)) {
    const of = list?.[unit];
    if (typeof amount === 'number' && typeof of === 'number' && of > 0) {
      return `×${Math.round((amount / of) * 100) / 100}`;
    }
  }
  return undefined;
}

/** `per 1,000,000 cached input tokens`, `per image`. */
function perUnit(unit: Unit): string {
  const { per, words } = UNITS[unit];
  return `per ${per === 1 ? '' : `${count(per)} `}${words}`;
}

function entriesOf(price: Price): [Unit, UnitPriceView][] {
  return Object.entries(price) as [Unit, UnitPriceView][];
}

function isByLength(amount: UnitPriceView): amount is readonly { above?: number; price: number }[] {
  return Array.isArray(amount);
}

function spanOf(amount: object): readonly [least: number, most: number] {
  const all = Object.values(amount as Readonly<Record<string, number>>);
  return [Math.min(...all), Math.max(...all)];
}
