import type { DatedPrices, ListModel, ListPrices } from './list-data.ts';

export interface ValidPrices {
  /** Prices that are valid at the moment; several where they depend on the time of day. */
  readonly prices: readonly [ListPrices, ...ListPrices[]];
  /** The next day, as YYYY-MM-DD in UTC, from which on other prices are valid. */
  readonly changesOn: string | undefined;
}

/**
 * Prices of a model at a moment: of all that are valid then the last in the list counts, and the first one where none is.
 * Those by time of day are all taken that count at some time of a day.
 */
export function validAt({ prices }: Pick<ListModel, 'prices'>, now: Date): ValidPrices {
  if (!isDated(prices)) return { prices: [prices], changesOn: undefined };
  const valid: ListPrices[] = [];
  const later: string[] = [];
  for (const { constraint, prices: of } of prices.toReversed()) {
    if (constraint && 'start_date' in constraint && new Date(constraint.start_date) > now) {
      later.push(constraint.start_date);
      continue;
    }
    valid.push(of);
    if (!constraint || 'start_date' in constraint)
      return { prices: some(valid, of), changesOn: first(later) };
  }
  const fallback = prices[0]?.prices ?? {};
  return {
    prices: some(valid.includes(fallback) ? valid : [...valid, fallback], fallback),
    changesOn: first(later),
  };
}

function isDated(prices: ListModel['prices']): prices is readonly DatedPrices[] {
  return Array.isArray(prices);
}

function some(valid: readonly ListPrices[], fallback: ListPrices): [ListPrices, ...ListPrices[]] {
  const [one = fallback, ...more] = valid;
  return [one, ...more];
}

function first(days: readonly string[]): string | undefined {
  return days.toSorted()[0];
}
