import { cachedTokens, inputTokens, type Usage } from '../../domain/units.ts';
import { FairTable } from '../../shares/fair-table.ts';
import type { ReadCall } from '../call.ts';

/** Maximum conversations remembered, some 300 bytes each. */
const MAX_ENTRIES = 2_000;
const MAX_KEY_CHARS = 256;
/** OpenAI's default cache lifetime. */
const LASTS_MS = 30 * 60_000;

interface Share {
  /** Part of the input tokens that was read from the cache, 0 to 1. */
  readonly cached: number;
  readonly notedAt: number;
}

/**
 * How much of the input of each conversation was read from the provider's cache, by the last report. OpenAI's formats
 * report caching at the end only, so without this an estimate would charge cached input at the full price. For calls
 * with a `prompt_cache_key` alone; in this process alone, as it only makes estimates better.
 */
export class CacheShares {
  /** By key, model and `prompt_cache_key`. */
  readonly #shares = new FairTable<Share>(MAX_ENTRIES);
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  get size(): number {
    return this.#shares.size;
  }

  /** Notes what the provider reported of a call. */
  note(call: ReadCall, usage: Usage): void {
    const name = nameOf(call);
    if (name === undefined) return;
    const input = inputTokens(usage);
    if (input === 0) return;
    const share = { cached: cachedTokens(usage) / input, notedAt: this.#now() };
    this.#shares.set(call.compiled.key.accountId, name, share);
  }

  /** The likely cached share of a call's input; undefined if unknown. */
  of(call: ReadCall): number | undefined {
    const name = nameOf(call);
    const share = name === undefined ? undefined : this.#shares.get(name);
    return share && this.#now() - share.notedAt <= LASTS_MS ? share.cached : undefined;
  }
}

function nameOf({ facts, compiled, endpoint }: ReadCall): string | undefined {
  const key = facts.scalars.prompt_cache_key;
  if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_CHARS) return undefined;
  return endpoint.format === 'openai' ? `${compiled.key.id} ${facts.model.slug} ${key}` : undefined;
}
