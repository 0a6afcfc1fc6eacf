import type { Terms } from '../domain/bill.ts';
import type { Price, Variant } from '../domain/catalog.ts';
import { TIMES_ONE } from '../domain/price.ts';
import { madeVariant, unpricedMember, type VariedUnit } from '../domain/variants.ts';
import { isObject } from './json/value.ts';
import type { MeteredBody } from './meter.ts';
import { type Surcharge, shown } from './plan.ts';

/**
 * What a request says of one thing that its price is multiplied by: a name; null: the plain one; undefined: nothing, or that
 * the provider may choose.
 */
export type TierChoice = string | null | undefined;

/** Values of `service_tier` that are charged at the plain price. */
const PLAIN: ReadonlySet<unknown> = new Set(['default', 'standard', 'standard_only']);

/** The choice of a `service_tier`. */
export function serviceTierOf(value: unknown): TierChoice {
  if (value === undefined || value === null || value === 'auto') return undefined;
  return PLAIN.has(value) ? null : String(value);
}

/**
 * The most that the price can be multiplied by, in millionths. A tier that is asked for counts as it is, but at least 1, since
 * the provider may serve another; if none is, the highest of `among` counts (specification section 5, Admit).
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

/** The charge for a tier that a field names. */
export function tierCharge(param: string, serviceTier: string): Surcharge {
  return { param, what: `${param} ${JSON.stringify(serviceTier.slice(0, 100))}`, serviceTier };
}

/** The terms of an answer of OpenAI's formats: its service tier. */
export function openaiTerms(answer: unknown, price: Price): Terms {
  return { serviceTiers: openaiTiers(answer, price) };
}

/** The service tier of an answer of OpenAI's formats, or of a chunk of one, by the name that its multiplier has. */
export function openaiTiers(answer: unknown, { serviceTiers }: Price): readonly string[] | undefined {
  const tier = isObject(answer) ? answer.service_tier : undefined;
  // `auto` is the request's tier, not the one that served it; the first events of a stream have it.
  if (typeof tier !== 'string' || tier === 'auto') return undefined;
  // OpenAI's "fast mode" and "priority processing" are one: asked for `fast`, the answer says `priority`.
  if (tier === 'priority' && !serviceTiers.has('priority') && serviceTiers.has('fast')) return ['fast'];
  return [tier];
}

/** Service tier, speed and region of a message as Anthropic reports them; each is absent if it does not. */
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

/** Reads them from the `usage` of a message or of an event. `null` means absent. */
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
 * The names of what was reported: the tier, `fast` for that speed, the region. Of those three that are not reported, what
 * the request asks for. Undefined if nothing is reported.
 */
export function tierNames(reported: MessagesTiers, { value }: MeteredBody): readonly string[] | undefined {
  if (Object.keys(reported).length === 0) return undefined;
  const { tier, speed, region } = { ...messagesTiers(value), ...reported };
  return [tier, speed === 'fast' ? 'fast' : undefined, region].filter((name) => name !== undefined);
}

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
export function variantCharges({ model, value }: MeteredBody, unit: VariedUnit): readonly Surcharge[] {
  const param = unpricedMember(model, unit, variantIn(value));
  if (param === undefined) return [];
  return [{ param, what: `${param} ${shown(value[param])}`, setting: `price.${unit} by ${param}` }];
}

/** The terms of a bill by size and quality; `reported` is the answer, or an event of it. */
export function variantTerms(
  { model: { price }, value }: Pick<MeteredBody, 'model' | 'value'>,
  reported: unknown,
): Terms {
  if (!price.variants) return {};
  return { made: madeVariant(price, variantIn(value), variantIn(reported)) };
}

type Part = Readonly<Record<string, unknown>>;

/** Members of a request, or of a part of one, whose `ttl` says how long a cache keeps the tokens, with the vendor's shortest. */
const SHORTEST = {
  cache_control: '5m',
  prompt_cache_options: '30m',
  prompt_cache_breakpoint: '30m',
} as const;
type Member = keyof typeof SHORTEST;
const MEMBERS = Object.keys(SHORTEST) as readonly Member[];

/** Whether a member asks for a longer life than the vendor's shortest. A `ttl` that nobody knows counts as longer. */
function isLonger(value: unknown, member: Member): boolean {
  return isObject(value) && (value.ttl ?? SHORTEST[member]) !== SHORTEST[member];
}

/** The longest life of the cache that a request asks for, found as its parts are read. */
export class CacheLife {
  #member: Member | undefined;

  read(part: Part): void {
    for (const member of MEMBERS) {
      const value = part[member];
      if (isLonger(value, member)) this.#member ??= member;
    }
  }

  /** The charge for it; undefined for the shortest life, which is charged as `cacheWrite`. */
  get charge(): Surcharge | undefined {
    if (this.#member === undefined) return undefined;
    return {
      param: this.#member,
      what: `cache writes that last longer than ${SHORTEST[this.#member]} (ttl)`,
      unit: 'cacheWrite1h',
    };
  }
}

/**
 * Whether a request asks for a longer life of the cache than the vendor's shortest. For reports that do not divide written
 * tokens by how long they are kept.
 */
export function asksLongCache({ hints }: Pick<MeteredBody, 'hints'>): boolean {
  return hints?.asksLongCache === true;
}
