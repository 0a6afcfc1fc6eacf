import type { Model } from '../../domain/catalog.ts';
import { GatewayError, invalidField } from '../../domain/errors.ts';
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
  const setting =
    unpriced.setting ?? (unit ? `price.${unit}` : serviceTier && `serviceTiers.${serviceTier.slice(0, 100)}`);
  throw new GatewayError(
    'unpriced_parameter',
    `The model ${model.slug} has no price for ${what}. Leave it out${setting ? `, or have the operator set ${setting}` : ''}.`,
    param,
  );
}

function isPriced({ unit, serviceTier }: Charge, { price }: Model): boolean {
  if (unit !== undefined) return price.named.has(unit);
  return serviceTier !== undefined && price.serviceTiers.has(serviceTier);
}

/** Web searches, by the kind of the tool. */
export const SEARCHES: Readonly<Record<'search' | 'preview', Omit<Charge, 'param'>>> = {
  search: { what: 'web searches', unit: 'webSearch' },
  preview: { what: 'web searches by a web_search_preview tool', unit: 'webSearchPreview' },
};

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
      `${name}${param ? ` in ${param}` : ''} is not supported, because it would run a model other than the one in the request. ` +
        'Leave it out.',
    );
  }
}

/** A value that a client sent, cut to a length that is fit for a message. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
