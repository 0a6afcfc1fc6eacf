import type { Model } from '../domain/catalog.ts';
import type { Micro } from '../domain/credits.ts';
import { GatewayError, invalidField } from '../domain/errors.ts';
import type { Unit } from '../domain/units.ts';
import type { Bounds } from './bounds.ts';
import { isObject } from './json/value.ts';
import type { CallCost } from './token-cost.ts';

/** A request feature that the provider charges beyond plain tokens (specification section 10). */
export interface Surcharge {
  /** The request field that asks for it. */
  readonly param: string;
  /** Noun phrase for messages, after "for". */
  readonly what: string;
  /** The unit that charges it, if any. */
  readonly unit?: Unit;
  /** Name of its multiplier, if it is a service tier. */
  readonly serviceTier?: string;
  /** The setting that allows it, if neither a price nor a tier does. */
  readonly setting?: string;
  /** Advice for users who may not be able to omit it. */
  readonly advice?: string;
}

/** Request facts needed to read the report, kept instead of the request's lists. */
export interface ReportHints {
  /** The request asks for a longer cache lifetime than the vendor's shortest. */
  readonly asksLongCache: boolean;
  /** The request has a preview search tool. */
  readonly searchesAsPreview: boolean;
  /** The model has several targets, so it matters which one produced encrypted reasoning. */
  readonly hasTargets?: boolean;
}

/** Cost facts of a call, read once from its body. */
export interface RequestPlan {
  readonly charges: readonly Surcharge[];
  /** Service tiers that the request names, by multiplier name. */
  readonly serviceTiers: readonly string[];
  /** Bounds that the request leaves open and the gateway sends. */
  readonly sets?: readonly FieldToSet[];
  /** Facts needed to read the report; undefined: none. */
  readonly hints?: ReportHints;
  /** Inline audio to measure; undefined: not inline. */
  readonly sounds?: readonly (string | undefined)[];
  /** Hold and estimate. `bounds` adds later facts, such as the tokens of stored answers that the request names. */
  cost(bounds: Bounds): CallCost;
}

export const NONE: readonly never[] = Object.freeze([]);

/** Plan of a call that costs exactly its hold and isn't counted in tokens. */
export function fixedCost(hold: Micro, charges: readonly Surcharge[] = NONE): RequestPlan {
  return {
    charges,
    serviceTiers: NONE,
    cost: () => ({ hold, estimate: hold, tokens: 0, mediaTokens: 0 }),
  };
}

/**
 * A bound that the request leaves open. The gateway sends it because the hold depends on it (specification section 5).
 */
export interface FieldToSet {
  /** The request member that lists the tool; undefined: the field belongs to the request. */
  readonly list?: string;
  /** The tool that gets the field. */
  readonly of?: Readonly<Record<string, unknown>>;
  readonly name: ToolBound | 'max_tool_calls';
}

/** The value to send. */
export function valueToSet({ name }: FieldToSet, { toolRounds, toolTokens }: Bounds): number {
  return name === 'max_content_tokens' ? toolTokens : toolRounds;
}

/** Tool members that bound its use by the provider. */
export type ToolBound = 'max_uses' | 'max_content_tokens';

/**
 * Returns 400 `unpriced_parameter` for a requested feature without a price (specification section 10); `param` names
 * the field. A free model gives everything away.
 */
export function unpricedIn(
  { charges }: Pick<RequestPlan, 'charges'>,
  model: Model,
): GatewayError | undefined {
  if (charges.length === 0 || model.priceSource === 'free') return undefined;
  const unpriced = charges.find((charge) => !isPriced(charge, model));
  if (!unpriced) return undefined;
  const { param, what, unit, serviceTier, advice = 'Leave it out' } = unpriced;
  const setting =
    unpriced.setting ?? (unit ? `price.${unit}` : serviceTier && `serviceTiers.${serviceTier.slice(0, 100)}`);
  return new GatewayError(
    'unpriced_parameter',
    `The model ${model.slug} has no price for ${what}. ${advice}${setting ? `, or have the operator set ${setting}` : ''}.`,
    param,
  );
}

export function refuseUnpriced(found: Pick<RequestPlan, 'charges'>, model: Model): void {
  const refusal = unpricedIn(found, model);
  if (refusal) throw refusal;
}

function isPriced({ unit, serviceTier }: Surcharge, { price }: Model): boolean {
  if (unit !== undefined) return price.named.has(unit);
  return serviceTier !== undefined && price.serviceTiers.has(serviceTier);
}

/** Web searches by kind of tool. */
export const SEARCHES: Readonly<Record<'search' | 'preview', Omit<Surcharge, 'param'>>> = {
  search: { what: 'web searches', unit: 'webSearch' },
  preview: { what: 'web searches by a web_search_preview tool', unit: 'webSearchPreview' },
};

/** Whether an optional member is present. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Refuses members that would run a model that was not checked, allowed and priced. Throws 400 `invalid_field`. `param`:
 * the field that holds `members`, if not the request itself.
 */
export function refuseModels(
  members: Readonly<Record<string, unknown>>,
  names: readonly string[],
  param?: string,
): void {
  for (const name of names) {
    if (!isSet(members[name])) continue;
    throw invalidField(
      param ?? name,
      `${name}${param ? ` in ${param}` : ''} is not supported, because it would run a model other than the one in the request. ` +
        'Leave it out.',
    );
  }
}

/** A client's value, truncated for messages. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}

/**
 * Fields that decide must have the right type (specification section 4): a lenient provider accepts text for a number,
 * and an object for a list. The functions below throw 400 `invalid_field`; null counts as absent.
 */

/** A list; empty if absent. */
export function listOf(value: unknown, param: string): readonly unknown[] {
  if (value === undefined || value === null) return NONE;
  if (!Array.isArray(value)) throw invalidField(param, `${param} must be a list.`);
  return value;
}

/** Accepts a text or a list. */
export function checkContent(value: unknown, param: string): void {
  if (isObject(value)) throw invalidField(param, `The content of ${param} must be a string or a list.`);
}

/** A tool, identified by `type`, `name` or `function`, depending on the format. */
export function toolOf(
  tool: unknown,
  param: string,
  identity: 'function' | 'name',
): Readonly<Record<string, unknown>> {
  if (!isObject(tool)) throw invalidField(param, `Each tool in ${param} must be an object.`);
  if ((tool.type ?? tool[identity] ?? undefined) === undefined)
    throw invalidField(param, `Each tool in ${param} must have type or ${identity}.`);
  return tool;
}

/** A count; undefined if absent. `what` names it in messages. */
export function wholeNumberOf(value: unknown, param: string, what: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidField(param, `${what} must be a whole number of at least 0.`);
}
