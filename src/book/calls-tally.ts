import type { CallBuckets } from '../domain/call-buckets.ts';
import { CALL_RESULTS, type CallResult } from './calls.ts';

/** Numbers of calls by result. */
export type Results = Record<CallResult, number>;

/** A value of a field and the number of its calls. */
export interface Counted<T> {
  readonly value: T;
  readonly count: number;
}

/** Calls with the same error. */
export interface ErrorGroup {
  readonly code: string;
  readonly endpoint: string | null;
  readonly model: string | null;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly firstAt: number;
  readonly lastAt: number;
  /** Number of different keys. */
  readonly keys: number;
}

/** Milliseconds that half of the calls took at most, and 95 % of them; null: no calls. */
export interface Percentiles {
  readonly p50: number | null;
  readonly p95: number | null;
}

/** Fields of calls that a summary counts by. */
interface CallFields {
  readonly result: CallResult;
  readonly code: string | null;
  readonly model: string | null;
  readonly endpoint: string | null;
  readonly key_id: number | null;
  readonly upstream: string | null;
  readonly account_id: number;
}

/** A sum of some calls: by their fields, or by one number of `kind`. */
export interface CallSum extends CallFields {
  readonly kind: 'fields' | 'bucket' | 'duration' | 'first byte';
  readonly number: number;
  readonly count: number;
  /** Of the earliest and the latest call. */
  readonly first_at: number;
  readonly last_at: number;
}

/** Most values of a list. */
const MAX_VALUES = 50;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Group = Mutable<Omit<ErrorGroup, 'keys'>> & { readonly keys: Set<number | null> };

/** Adds up the sums of parts of the calls. It holds each different value once, however many calls there are. */
export class CallsTally {
  readonly results = noResults();
  readonly inBuckets: readonly Results[];
  readonly codes = new Count<string>();
  readonly models = new Count<string>();
  readonly endpoints = new Count<string>();
  readonly upstreams = new Count<string>();
  readonly keys = new Count<number>();
  readonly accounts = new Count<number>();
  readonly #durations = new Count<number>();
  readonly #firstBytes = new Count<number>();
  readonly #groups = new Map<string, Group>();

  constructor({ count }: CallBuckets) {
    this.inBuckets = Array.from({ length: count }, noResults);
  }

  add(sums: readonly CallSum[]): void {
    for (const sum of sums) {
      if (sum.kind === 'fields') this.#addFields(sum);
      else if (sum.kind === 'duration') this.#durations.add(sum.number, sum.count);
      else if (sum.kind === 'first byte') this.#firstBytes.add(sum.number, sum.count);
      else {
        const bucket = this.inBuckets[sum.number];
        if (bucket) bucket[sum.result] += sum.count;
      }
    }
  }

  #addFields(sum: CallSum): void {
    const { count } = sum;
    this.results[sum.result] += count;
    this.codes.add(sum.code, count);
    this.models.add(sum.model, count);
    this.endpoints.add(sum.endpoint, count);
    this.upstreams.add(sum.upstream, count);
    this.keys.add(sum.key_id, count);
    this.accounts.add(sum.account_id, count);
    if (sum.code !== null) this.#addError(sum, sum.code);
  }

  #addError({ endpoint, model, key_id, count, first_at, last_at }: CallSum, code: string): void {
    const name = JSON.stringify([code, endpoint, model]);
    const known = this.#groups.get(name);
    if (!known) {
      const times = { firstAt: first_at, lastAt: last_at };
      this.#groups.set(name, { code, endpoint, model, count, ...times, keys: new Set([key_id]) });
      return;
    }
    known.count += count;
    known.firstAt = Math.min(known.firstAt, first_at);
    known.lastAt = Math.max(known.lastAt, last_at);
    known.keys.add(key_id);
  }

  /** The largest groups of equal errors, largest first; of equal ones the latest. */
  groups(): ErrorGroup[] {
    return [...this.#groups.values()]
      .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
      .slice(0, MAX_VALUES)
      .map(({ keys, ...group }) => ({ ...group, keys: keys.size }));
  }

  times(): { readonly durationMs: Percentiles; readonly firstByteMs: Percentiles } {
    return { durationMs: percentiles(this.#durations), firstByteMs: percentiles(this.#firstBytes) };
  }
}

/** Numbers of calls by value; calls without one are left out. */
export class Count<T extends string | number> {
  readonly #counts = new Map<T, number>();

  add(value: T | null, count: number): void {
    if (value !== null) this.#counts.set(value, (this.#counts.get(value) ?? 0) + count);
  }

  all(): ReadonlyMap<T, number> {
    return this.#counts;
  }

  /** The most frequent values, most first; equal ones in their order. */
  most(): Counted<T>[] {
    return [...this.#counts]
      .map(([value, count]) => ({ value, count }))
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, MAX_VALUES);
  }
}

function noResults(): Results {
  return Object.fromEntries(CALL_RESULTS.map((result) => [result, 0])) as Results;
}

/** Nearest ranks. */
function percentiles(counts: Count<number>): Percentiles {
  const sorted = [...counts.all()].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  const at = (share: number): number | null => {
    let seen = 0;
    for (const [ms, count] of sorted) {
      seen += count;
      if (seen >= share * total) return ms;
    }
    return null;
  };
  return { p50: at(0.5), p95: at(0.95) };
}
