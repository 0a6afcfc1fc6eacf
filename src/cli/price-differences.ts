import type { ListedModel } from '../config/price-list/listed-model.ts';
import type { Model } from '../domain/catalog.ts';
import { UNIT_NAMES, type Unit } from '../domain/units.ts';
import { type WrittenUnit, writtenPrice } from '../domain/written-price.ts';

/** A unit that is written at one price and stands in the list at another; null: not named there. */
export interface Difference {
  readonly unit: Unit;
  readonly written: WrittenUnit | null;
  readonly list: WrittenUnit | null;
}

/** How a written price differs from the list's, or why they cannot be compared. */
export function differences(model: Model, listed: ListedModel | undefined): readonly Difference[] | string {
  if (model.upstream.provider === undefined) return 'their upstream names no provider';
  if (!listed) return `the list has no such model of ${model.upstream.provider}`;
  if ('why' in listed.priced) return `the list's price can't be used: ${listed.priced.why}`;
  const [is, list] = [writtenPrice(model.price), writtenPrice(listed.priced.price)];
  return UNIT_NAMES.flatMap((unit) => {
    const [one, other] = [is[unit] ?? null, list[unit] ?? null];
    return JSON.stringify(one) === JSON.stringify(other) ? [] : [{ unit, written: one, list: other }];
  });
}
