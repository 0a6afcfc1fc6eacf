import type { Terms } from '../domain/bill.ts';
import type { Price } from '../domain/catalog.ts';
import { isObject } from './json-value.ts';
import type { MeteredBody } from './metered-body.ts';

/** The terms of an answer of OpenAI's formats: its service tier. */
export function openaiTerms(answer: unknown, price: Price): Terms {
  return { serviceTiers: openaiTiers(answer, price) };
}

/** The service tier of an answer of OpenAI's formats, or of a chunk of one, by the name that its multiplier has. */
export function openaiTiers(answer: unknown, { serviceTiers }: Price): readonly string[] | undefined {
  const tier = isObject(answer) ? answer.service_tier : undefined;
  // `auto` is what was asked for, not what served it; it stands in the first events of a stream.
  if (typeof tier !== 'string' || tier === 'auto') return undefined;
  // OpenAI's "fast mode" and "priority processing" are one: asked for `fast`, the answer says `priority`.
  if (tier === 'priority' && !serviceTiers.has('priority') && serviceTiers.has('fast')) return ['fast'];
  return [tier];
}

/** Service tier, speed and region of a message as Anthropic reports them; each is absent where it does not. */
export interface MessagesTiers {
  readonly tier?: string;
  readonly speed?: string;
  readonly region?: string;
}

const MEMBERS = [
  ['service_tier', 'tier'],
  ['speed', 'speed'],
  ['inference_geo', 'region'],
] as const;

/** Reads them from the `usage` of a message or of an event. `null` means absent. */
export function messagesTiers(reported: unknown): MessagesTiers {
  const tiers: { -readonly [Name in keyof MessagesTiers]: string } = {};
  if (!isObject(reported)) return tiers;
  for (const [theirs, ours] of MEMBERS) {
    const value = reported[theirs];
    if (typeof value === 'string') tiers[ours] = value;
  }
  return tiers;
}

/**
 * The names of what was reported: the tier, `fast` for that speed, the region. Of those three that are not reported, what
 * the request asks for. Undefined where nothing is reported.
 */
export function tierNames(reported: MessagesTiers, { value }: MeteredBody): readonly string[] | undefined {
  if (Object.keys(reported).length === 0) return undefined;
  const { tier, speed, region } = { ...messagesTiers(value), ...reported };
  return [tier, speed === 'fast' ? 'fast' : undefined, region].filter((name) => name !== undefined);
}
