import type { Terms } from '../domain/bill.ts';
import type { Price, Variant } from '../domain/catalog.ts';
import { TIMES_ONE } from '../domain/price.ts';
import { madeVariant, unpricedMember, type VariedUnit } from '../domain/variants.ts';
import { isObject } from './json/value.ts';
import type { ParsedRequest, RequestFacts } from './meter.ts';
import { type Surcharge, shown } from './plan.ts';

/** Name of the multiplier that a request chooses; null: the plain price; undefined: the provider chooses. */
export type TierChoice = string | null | undefined;

/** Values of `service_tier` at the plain price. */
const PLAIN: ReadonlySet<unknown> = new Set(['default', 'standard', 'standard_only']);

export function serviceTierOf(value: unknown): TierChoice {
  if (value === undefined || value === null || value === 'auto') return undefined;
  return PLAIN.has(value) ? null : String(value);
}

/**
 * Highest price multiplier, in millionths. A requested tier counts as at least 1, because the provider may serve
 * another. Without one, the highest of `among` counts (specification section 5, Admit).
 */
export function highestMultiplier(
  { serviceTiers }: Price,
  choice: TierChoice,
  among: (tier: string) => boolean = () => true,
): number {
  if (serviceTiers.size === 0 || choice === null) return TIMES_ONE;
  if (choice !== undefined) return Math.max(TIMES_ONE, serviceTiers.get(choice) ?? TIMES_ONE);
  let most = TIMES_ONE;
  for (const [tier, times] of serviceTiers) if (among(tier)) most = Math.max(most, times);
  return most;
}

/** The service tier that a request in an OpenAI format names, its charge, and the highest multiplier. */
export function requestedTier({ value, model }: ParsedRequest, price = model.price) {
  const tier = serviceTierOf(value.service_tier);
  const serviceTiers = typeof tier === 'string' ? [tier] : [];
  return {
    serviceTiers,
    charges: serviceTiers.map((name) => tierCharge('service_tier', name)),
    multiplier: highestMultiplier(price, tier),
  };
}

/** The charge for a tier in a field. */
export function tierCharge(param: string, serviceTier: string): Surcharge {
  return { param, what: `${param} ${JSON.stringify(serviceTier.slice(0, 100))}`, serviceTier };
}

/** The terms of an answer in an OpenAI format: its service tier. */
export function openaiTerms(answer: unknown, price: Price): Terms {
  return { serviceTiers: openaiTiers(answer, price) };
}

/** The multiplier's name for the service tier of an answer or chunk in an OpenAI format. */
export function openaiTiers(answer: unknown, { serviceTiers }: Price): readonly string[] | undefined {
  const tier = isObject(answer) ? answer.service_tier : undefined;
  // The first events of a stream repeat the `auto` of the request.
  if (typeof tier !== 'string' || tier === 'auto') return undefined;
  // OpenAI's "fast mode" is priority processing: the answer to `fast` says `priority`.
  if (tier === 'priority' && !serviceTiers.has('priority') && serviceTiers.has('fast')) return ['fast'];
  return [tier];
}

/** Service tier, speed and region as Anthropic reports them. */
export interface MessagesTiers {
  readonly tier?: string;
  readonly speed?: string;
  readonly region?: string;
}

const TIER_MEMBERS = [
  ['service_tier', 'tier'],
  ['speed', 'speed'],
  ['inference_geo', 'region'],
] as const;

/** Reads the `usage` of a message or event. `null` means absent. */
export function messagesTiers(reported: unknown): MessagesTiers {
  const tiers: { -readonly [Name in keyof MessagesTiers]: string } = {};
  if (!isObject(reported)) return tiers;
  for (const [theirs, ours] of TIER_MEMBERS) {
    const value = reported[theirs];
    if (typeof value === 'string') tiers[ours] = value;
  }
  return tiers;
}

/**
 * Names of the reported tier, speed (if `fast`) and region. The request fills in what is missing, but if nothing is
 * reported the result is undefined.
 */
export function tierNames(reported: MessagesTiers, { scalars }: RequestFacts): readonly string[] | undefined {
  if (Object.keys(reported).length === 0) return undefined;
  const { tier, speed, region } = { ...messagesTiers(scalars), ...reported };
  return [tier, speed === 'fast' ? 'fast' : undefined, region].filter((name) => name !== undefined);
}

/** Size and quality of a request, answer or event. `auto` leaves the choice to the vendor, as if absent. */
export function variantIn(value: unknown): Variant {
  if (!isObject(value)) return {};
  const { size, quality } = value;
  return { ...named('size', size), ...named('quality', quality) };
}

function named(member: keyof Variant, value: unknown): Variant {
  if (value === undefined || value === null || value === 'auto') return {};
  return { [member]: typeof value === 'string' ? value : shown(value) };
}

/** The charge for a size or quality without a price. */
export function variantCharges({ model, value }: ParsedRequest, unit: VariedUnit): readonly Surcharge[] {
  const param = unpricedMember(model, unit, variantIn(value));
  if (param === undefined) return [];
  return [{ param, what: `${param} ${shown(value[param])}`, setting: `price.${unit} by ${param}` }];
}

/** Billing terms by size and quality; `reported` is the answer or an event of it. */
export function variantTerms(
  { model: { price }, scalars }: Pick<RequestFacts, 'model' | 'scalars'>,
  reported: unknown,
): Terms {
  if (!price.variants) return {};
  return { made: madeVariant(price, variantIn(scalars), variantIn(reported)) };
}

type Part = Readonly<Record<string, unknown>>;

/** Members whose `ttl` sets the cache lifetime, with the vendor's shortest. */
const SHORTEST = {
  cache_control: '5m',
  prompt_cache_options: '30m',
  prompt_cache_breakpoint: '30m',
} as const;
type Member = keyof typeof SHORTEST;
const MEMBERS = Object.keys(SHORTEST) as readonly Member[];

/** Whether a member asks for more than the shortest lifetime. An unknown `ttl` does. */
function isLonger(value: unknown, member: Member): boolean {
  return isObject(value) && (value.ttl ?? SHORTEST[member]) !== SHORTEST[member];
}

/** Detects a long cache lifetime among the parts of a request. */
export class CacheLife {
  #member: Member | undefined;

  read(part: Part): void {
    for (const member of MEMBERS) {
      const value = part[member];
      if (isLonger(value, member)) this.#member ??= member;
    }
  }

  /** The charge for a long lifetime; undefined for the shortest, which is charged as `cacheWrite`. */
  get charge(): Surcharge | undefined {
    if (this.#member === undefined) return undefined;
    return {
      param: this.#member,
      what: `cache writes that last longer than ${SHORTEST[this.#member]} (ttl)`,
      unit: 'cacheWrite1h',
    };
  }
}

/** Whether a request asks for a long cache lifetime, for reports that don't divide written tokens by lifetime. */
export function asksLongCache({ hints }: Pick<RequestFacts, 'hints'>): boolean {
  return hints?.asksLongCache === true;
}
