import { isObject } from './json/value.ts';
import type { MeteredBody } from './meter.ts';
import type { Surcharge } from './plan.ts';

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
