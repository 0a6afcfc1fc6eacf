import type { Model } from '../../domain/catalog.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
import { foldName, otherCase } from '../../domain/field-names.ts';
import { isObject } from '../json-value.ts';
import type { Asked, Charge } from './asked.ts';

/**
 * Refuses what a request asks for where its model has no price for it (specification section 10): 400 `unpriced_parameter`,
 * whose `param` names the field. A free model gives everything away.
 */
export function refuseUnpriced({ charges }: Pick<Asked, 'charges'>, model: Model): void {
  if (charges.length === 0 || model.priceSource === 'free') return;
  const unpriced = charges.find((charge) => !isPriced(charge, model));
  if (!unpriced) return;
  const { param, what, unit, serviceTier } = unpriced;
  const setting = unit ? `price.${unit}` : serviceTier && `serviceTiers.${serviceTier.slice(0, 100)}`;
  throw new GatewayError(
    'unpriced_parameter',
    `The model ${model.slug} has no price here for ${what}. Leave it out${setting ? `, or have the operator set ${setting}` : ''}.`,
    param,
  );
}

function isPriced({ unit, serviceTier }: Charge, { price }: Model): boolean {
  if (unit !== undefined) return price.named.has(unit);
  return serviceTier !== undefined && price.serviceTiers.has(serviceTier);
}

export const HOUR_CACHE: Charge = {
  param: 'cache_control',
  what: 'cache writes that last longer than 5 minutes (ttl of cache_control)',
  unit: 'cacheWrite1h',
};

export const WEB_SEARCH: Omit<Charge, 'param'> = { what: 'web searches', unit: 'webSearch' };

/** Names within messages and tools by which more can be billed than was asked for in plain sight. */
const BILLING_NAMES: ReadonlySet<string> = new Set([
  'type',
  'tool',
  'tools',
  'definition',
  'tool_changes',
  'cache_control',
  'ttl',
  'model',
  'max_uses',
]);
const PLAIN_NAME = /^[a-z0-9_]*$/;

/**
 * Refuses a name in another case, such as `Type` for `type`: an upstream that ignores case would bill what was not held. Throws
 * 400 `invalid_json`.
 */
export function refuseOtherCase(where: string, members: Readonly<Record<string, unknown>>): void {
  for (const name in members) {
    if (PLAIN_NAME.test(name)) continue;
    const folded = foldName(name);
    if (name !== folded && BILLING_NAMES.has(folded)) throw otherCase(where, name, folded);
  }
}

/** Whether a `cache_control` asks for another lifetime than the usual one; one that nobody knows counts as longer. */
export function asksHourCache(control: unknown): boolean {
  if (!isObject(control)) return false;
  refuseOtherCase('cache_control', control);
  return (control.ttl ?? '5m') !== '5m';
}

/** True where an optional member is there. */
export function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Refuses members by which another model would run than the one that was checked, allowed and priced. Throws 400
 * `invalid_field`. `param`: the field that holds `members`, where that is not the request itself.
 */
export function refuseModels(
  members: Readonly<Record<string, unknown>>,
  names: readonly string[],
  param?: string,
): void {
  for (const name of names) {
    if (!isAsked(members[name])) continue;
    throw invalidField(
      param ?? name,
      `${name}${param ? ` in ${param}` : ''} is not served here, because another model than the one that the call names ` +
        'would run. Leave it out.',
    );
  }
}

/** A value that a client sent, cut to a length that is fit for a message. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
