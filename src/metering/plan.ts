import type { Model } from '../domain/catalog.ts';
import type { Micro } from '../domain/credits.ts';
import { GatewayError, invalidField } from '../domain/errors.ts';
import type { Unit } from '../domain/units.ts';
import type { Bounds } from './bounds.ts';
import { isObject } from './json/value.ts';
import type { CallCost } from './token-cost.ts';

/** Something in a request that its provider charges for beyond plain tokens (specification section 10). */
export interface Surcharge {
  /** The field of the request that asks for it. */
  readonly param: string;
  /** Its name in a sentence, after "for". */
  readonly what: string;
  /** The unit that it is charged by, if there is one. */
  readonly unit?: Unit;
  /** The service tier that it is, by the name that its multiplier has. */
  readonly serviceTier?: string;
  /** The setting with which an operator allows it, if it is neither a price nor a tier. */
  readonly setting?: string;
  /** Advice for users who may not be able to leave it out. */
  readonly advice?: string;
}

/** Facts of the request that reading its report needs, kept in place of its lists. */
export interface ReportHints {
  /** It asks for a longer life of the cache than the vendor's shortest. */
  readonly asksLongCache: boolean;
  /** It has a tool that searches as a preview. */
  readonly searchesAsPreview: boolean;
  /** Its model has several targets, so it matters which one made encrypted reasoning. */
  readonly hasTargets?: boolean;
}

/** One thing that a call asks for. Read from its body once. */
export interface CostPlan {
  readonly charges: readonly Surcharge[];
  /** Service tiers that the request names, by the names that multipliers have. */
  readonly serviceTiers: readonly string[];
  /** Bounds that the request leaves open and the gateway sends. */
  readonly sets?: readonly FieldToSet[];
  /** Facts that reading the report needs; undefined: nothing of the request. */
  readonly hints?: ReportHints;
  /** Inline sounds, to be measured; undefined: one that is not inline. */
  readonly sounds?: readonly (string | undefined)[];
  /**
   * Hold and estimate of the call. `bounds` has what is known later than the body, such as the tokens behind the stored
   * answers that it names.
   */
  cost(bounds: Bounds): CallCost;
}

export const NONE: readonly never[] = Object.freeze([]);

/** The plan of a call that costs exactly its hold, and is not counted in tokens. */
export function fixedCost(hold: Micro, charges: readonly Surcharge[] = NONE): CostPlan {
  return {
    charges,
    serviceTiers: NONE,
    cost: () => ({ hold, estimate: hold, tokens: 0, mediaTokens: 0 }),
  };
}

/** A bound that a request leaves open and the gateway sends, because the hold counts it (specification section 5). */
export interface FieldToSet {
  /** The member of the request that holds the tool; undefined: the request itself has the field. */
  readonly list?: string;
  /** The tool that has the field. */
  readonly of?: Readonly<Record<string, unknown>>;
  readonly name: ToolBound | 'max_tool_calls';
}

/** The value that is sent. */
export function valueToSet({ name }: FieldToSet, { toolRounds, toolTokens }: Bounds): number {
  return name === 'max_content_tokens' ? toolTokens : toolRounds;
}

/** Members of a tool that bound its use by the provider. */
export type ToolBound = 'max_uses' | 'max_content_tokens';

/**
 * The refusal of what a request asks for if its model has no price for it (specification section 10): 400
 * `unpriced_parameter`, whose `param` names the field. A free model gives everything away.
 */
export function unpricedIn({ charges }: Pick<CostPlan, 'charges'>, model: Model): GatewayError | undefined {
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

/** Throws that refusal, if there is one. */
export function refuseUnpriced(found: Pick<CostPlan, 'charges'>, model: Model): void {
  const refusal = unpricedIn(found, model);
  if (refusal) throw refusal;
}

function isPriced({ unit, serviceTier }: Surcharge, { price }: Model): boolean {
  if (unit !== undefined) return price.named.has(unit);
  return serviceTier !== undefined && price.serviceTiers.has(serviceTier);
}

/** Web searches, by the kind of the tool. */
export const SEARCHES: Readonly<Record<'search' | 'preview', Omit<Surcharge, 'param'>>> = {
  search: { what: 'web searches', unit: 'webSearch' },
  preview: { what: 'web searches by a web_search_preview tool', unit: 'webSearchPreview' },
};

/** True if an optional member is there. */
export function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * Refuses members that make another model run than the one that was checked, allowed and priced. Throws 400
 * `invalid_field`. `param`: the field that holds `members`, if that is not the request itself.
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

/** A value that a client sent, cut to a length that is fit for a message. */
export function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}

/**
 * What decides must have its own type (specification section 4): a lenient provider takes text for a number, and an object for
 * a list. Each of these throws 400 `invalid_field`; null counts as absent.
 */

/** A list; empty if it is absent. */
export function listOf(value: unknown, param: string): readonly unknown[] {
  if (value === undefined || value === null) return NONE;
  if (!Array.isArray(value)) throw invalidField(param, `${param} must be a list.`);
  return value;
}

/** A text or a list. */
export function checkContent(value: unknown, param: string): void {
  if (isObject(value)) throw invalidField(param, `The content of ${param} must be a string or a list.`);
}

/** A tool, identified by its `type`, or by `name` or `function`, depending on the format. */
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

/** A count; undefined if it is absent. `what` names it in a message. */
export function wholeNumberOf(value: unknown, param: string, what: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidField(param, `${what} must be a whole number of at least 0.`);
}
