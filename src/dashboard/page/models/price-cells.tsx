import type { ModelView, UnitPriceView } from '../../../api/models/model-view.ts';
import { UNITS, type Unit } from '../../../domain/units.ts';
import { count, credits } from '../format/credits.ts';

type Price = ModelView['price'];

/** Units with a column of their own. */
const SHOWN = ['input', 'cachedInput', 'output'] as const;
/** Names of the columns of PriceCells. */
export const PRICE_COLUMNS = [
  ['Input', 'number'],
  ['Cached', 'number'],
  ['Output', 'number'],
  ['Other prices', 'wide-only'],
] as const;

/** The columns of a price: tokens in and out, and the rest in words. */
export function PriceCells({
  of: price,
  isFree,
  isShort = false,
}: {
  of: Price;
  isFree: boolean;
  /** True in a table of many columns. */
  isShort?: boolean;
}) {
  const rest = (Object.entries(price) as [Unit, UnitPriceView][]).filter(
    ([unit]) => !SHOWN.some((shown) => shown === unit),
  );
  const words = rest.map(([unit, amount]) => `${shortPrice(amount)} ${shortUnit(unit)}`);
  return (
    <>
      {SHOWN.map((unit) => (
        <td key={unit} className={price[unit] === undefined ? 'number compact-hidden' : 'number'}>
          {price[unit] === undefined ? '–' : shortPrice(price[unit])}
        </td>
      ))}
      <td
        className={`${isShort ? 'clip-short' : 'clip'} wide-only ${isFree || words.length > 0 ? 'compact-whole' : 'compact-hidden'}`}
        title={words.join('\n')}
      >
        {isFree ? 'free' : words.join(', ') || '–'}
      </td>
    </>
  );
}

/** A unit price in a table: of prices by length the shortest, of prices by size the span. */
export function shortPrice(amount: UnitPriceView): string {
  if (typeof amount === 'number') return credits(amount);
  if (Array.isArray(amount)) return `${credits(amount[0]?.price ?? 0)}+`;
  const all = Object.values(amount as Readonly<Record<string, number>>);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return least === most ? credits(least) : `${credits(least)}–${credits(most)}`;
}

/** The unit in a table, whose prices are per 1,000,000 tokens unless noted: `cache write`, `per image`. */
function shortUnit(unit: Unit): string {
  const { tokens, words } = UNITS[unit];
  return tokens === null ? perUnit(unit) : words.replace(' tokens', '');
}

/** `per 1,000,000 cached input tokens`, `per image`. */
export function perUnit(unit: Unit): string {
  const { per, words } = UNITS[unit];
  return `per ${per === 1 ? '' : `${count(per)} `}${words}`;
}

/** Every price of a model, a line each, with the steps of those by length and by size. */
export function priceLines(price: Price): readonly string[] {
  return (Object.entries(price) as [Unit, UnitPriceView][]).flatMap(([unit, amount]) => {
    if (typeof amount === 'number') return [`${credits(amount)} ${perUnit(unit)}`];
    if (Array.isArray(amount)) {
      return amount.map(
        ({ above, price: step }) =>
          `${credits(step)} ${perUnit(unit)}${above === undefined ? '' : `, if the input is longer than ${count(above)} tokens`}`,
      );
    }
    return Object.entries(amount).map(([variant, step]) => `${credits(step)} ${perUnit(unit)}, ${variant}`);
  });
}
