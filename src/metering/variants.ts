import type { Terms } from '../domain/bill.ts';
import type { Variant } from '../domain/catalog.ts';
import { madeVariant, unpricedMember, type VariedUnit } from '../domain/variants.ts';
import { isObject } from './json-value.ts';
import type { MeteredBody } from './metered-body.ts';
import type { Charge } from './request/asked.ts';
import { shown } from './request/charges.ts';

/** Size and quality in a request, an answer or an event. `auto` leaves the choice to the vendor, as nothing does. */
export function variantIn(value: unknown): Variant {
  if (!isObject(value)) return {};
  const { size, quality } = value;
  return { ...named('size', size), ...named('quality', quality) };
}

function named(member: keyof Variant, value: unknown): Variant {
  if (value === undefined || value === null || value === 'auto') return {};
  return { [member]: typeof value === 'string' ? value : shown(value) };
}

/** The charge for a size or quality that the model has no price for. */
export function variantCharges({ model, value }: MeteredBody, unit: VariedUnit): readonly Charge[] {
  const param = unpricedMember(model, unit, variantIn(value));
  if (param === undefined) return [];
  return [{ param, what: `${param} ${shown(value[param])}`, setting: `price.${unit} by ${param}` }];
}

/** The terms of a bill that goes by what was made; `reported` is the answer, or an event of it. */
export function variantTerms(
  { model: { price }, value }: Pick<MeteredBody, 'model' | 'value'>,
  reported: unknown,
): Terms {
  if (!price.variants) return {};
  return { made: madeVariant(price, variantIn(value), variantIn(reported)) };
}
