import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { type Model, type Target, targetName } from '../../domain/catalog.ts';
import { CONVERSATION_HEADERS } from '../../domain/clients.ts';

/** Whether a target may be asked now, and if not, when again: by `Date.now()`. */
export interface Availability {
  readonly isAvailable: boolean;
  /** 0 for a target that is up. */
  readonly outUntil: number;
}

/**
 * The order in which targets are asked for a call: the lowest priority number first, and within it by weight, the same for each
 * call with this affinity (rendezvous hashing: a target more or less moves only the calls that it takes or leaves). Targets that
 * are out are not asked, unless all are: then the one that comes back first.
 */
export function orderOf(
  targets: readonly Target[],
  affinity: string,
  availability: (target: Target) => Availability,
): Target[] {
  const ranked = targets.map((target) => {
    const { isAvailable, outUntil } = availability(target);
    return { target, score: scoreOf(target, affinity), isAvailable, outUntil };
  });
  const available = ranked.filter(({ isAvailable }) => isAvailable);
  if (available.length === 0) {
    const first = ranked.reduce((a, b) => (b.outUntil < a.outUntil ? b : a));
    return [first.target];
  }
  available.sort((a, b) => a.target.priority - b.target.priority || b.score - a.score);
  return available.map(({ target }) => target);
}

/** The targets that are out while others are not, the one that comes back first at the front. */
export function outOf(targets: readonly Target[], availability: (target: Target) => Availability): Target[] {
  const out = targets.filter((target) => !availability(target).isAvailable);
  if (out.length === targets.length) return [];
  return out.sort((a, b) => availability(a).outUntil - availability(b).outUntil);
}

/** Digits of the hash that make its number: 48 bits. */
const HEX_DIGITS = 12;
const RANGE = 16 ** HEX_DIGITS;

/**
 * Weighted rendezvous hashing: with -weight/ln(u) for u evenly in (0, 1), the largest score is a target's with a probability in
 * proportion to its weight.
 */
function scoreOf(target: Target, affinity: string): number {
  const digits = hash('sha256', `${placeOf(target.model)} ${affinity}`).slice(0, HEX_DIGITS);
  const u = (Number.parseInt(digits, 16) + 0.5) / RANGE;
  return -target.weight / Math.log(u);
}

/** Name of a target among those of its model. */
export function placeOf({ upstream, upstreamModel }: Pick<Model, 'upstream' | 'upstreamModel'>): string {
  return `${targetName(upstream)} ${upstreamModel}`;
}

/** Conversations whose last target is remembered: some 400 bytes each. */
const MAX_PLACES = 10_000;

/** The target that answered each conversation last, in this process. */
export class LastPlaces {
  readonly #places = new Map<string, string>();

  note(conversation: string, place: string): void {
    this.#places.delete(conversation);
    this.#places.set(conversation, place);
    for (const oldest of this.#places.keys()) {
      if (this.#places.size <= MAX_PLACES) break;
      this.#places.delete(oldest);
    }
  }

  of(conversation: string): string | undefined {
    return this.#places.get(conversation);
  }
}

/**
 * The only target for a call with encrypted reasoning that no target is known to have made: the one that answered its
 * conversation last, else the one that the conversation belongs to while all are up.
 */
export function onlyPlaceOf(
  targets: readonly Target[],
  affinity: string,
  last: string | undefined,
): readonly Target[] {
  const known = targets.find(({ model }) => placeOf(model) === last);
  return known ? [known] : orderOf(targets, affinity, () => UP).slice(0, 1);
}

const UP: Availability = { isAvailable: true, outUntil: 0 };

const MAX_AFFINITY_CHARS = 256;

/** What the calls of one conversation have in common, as providers' prompt caches are per credential; else the key. */
export function affinityOf(
  { prompt_cache_key: cacheKey }: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
  keyId: number,
): string {
  if (typeof cacheKey === 'string' && cacheKey !== '') return cacheKey.slice(0, MAX_AFFINITY_CHARS);
  for (const name of CONVERSATION_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, MAX_AFFINITY_CHARS);
  }
  return `key ${keyId}`;
}
