import { setTimeout as sleep } from 'node:timers/promises';
import type { CallRequest } from './call-request.ts';
import { load } from './load.ts';
import type { Target } from './target.ts';
import { redisCpuMicros, usageOf } from './usage.ts';

/** Number of calls sent through each target so far. */
const sent = new WeakMap<Target, number>();

/** Deferred work of a call counts as its cost: the journal drains within this time. */
const SETTLE_MS = 300;
const FIRST_CALLS_PER_CONNECTION = 4;
/** Share of a round for sequential calls, whose times show what a proxy adds. */
const ALONE_SHARE = 0.5;

export interface RoundOptions {
  readonly connections: number;
  readonly requests: readonly CallRequest[];
  readonly seconds: number;
  readonly rounds: number;
  /** Warm-up of targets that are compiled in use, in rounds; others get one. */
  readonly warmUpRounds?: number;
  /** Whether to send sequential calls as well. */
  readonly alone: boolean;
}

/** Medians over the rounds; null: not measured at this target. */
export interface Measured {
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** To the head of the answer. */
  readonly headP50Ms: number;
  readonly aloneP50Ms: number | null;
  readonly aloneP99Ms: number | null;
  readonly cpuMicros: number | null;
  readonly redisMicros: number | null;
  readonly rssMb: number | null;
}

/**
 * Measures the targets in turn, A B C A B C …, so that other load on the machine affects all of them. First warms up
 * each one, which also determines the number of calls of a round.
 */
export async function measure(
  targets: readonly Target[],
  options: RoundOptions,
): Promise<Map<string, Measured>> {
  const samples = new Map<string, Measured[]>();
  const amounts = new Map<string, number>();
  for (const target of targets) {
    amounts.set(target.name, await warmUp(target, options));
    samples.set(target.name, []);
  }
  for (let round = 0; round < options.rounds; round++) {
    for (const target of targets) {
      const amount = amounts.get(target.name) ?? options.connections;
      samples.get(target.name)?.push(await measureOnce(target, options, amount));
    }
  }
  return new Map([...samples].map(([name, all]) => [name, medians(all)]));
}

/**
 * Makes calls until the code is compiled and every key was used once. Returns the number of calls that take about
 * `seconds`.
 */
async function warmUp(target: Target, options: RoundOptions): Promise<number> {
  const { connections, seconds, warmUpRounds = 1 } = options;
  const enough = target.isCompiledInUse ? warmUpRounds * seconds : seconds;
  let amount = connections * FIRST_CALLS_PER_CONNECTION;
  const requests = target.requests ?? options.requests;
  for (let spent = 0; spent < enough || (sent.get(target) ?? 0) < requests.length; ) {
    const result = await loadOn(target, options, connections, amount);
    spent += result.seconds;
    amount = Math.max(connections, Math.round((amount / result.seconds) * seconds));
    const unseen = requests.length - (sent.get(target) ?? 0);
    // All in one load, because each load takes time to prepare.
    if (unseen > amount) {
      spent += (await loadOn(target, options, connections, unseen)).seconds;
    }
  }
  return amount;
}

async function measureOnce(target: Target, options: RoundOptions, amount: number): Promise<Measured> {
  const cpuBefore = usageOf(target.pids).cpuMicros;
  const redisBefore = target.redis ? await redisCpuMicros(target.redis) : 0;
  const result = await loadOn(target, options, options.connections, amount);
  await sleep(SETTLE_MS);
  const after = usageOf(target.pids);
  const redisAfter = target.redis ? await redisCpuMicros(target.redis) : 0;
  const alone = options.alone ? await measureAlone(target, options, result.answerMs) : undefined;
  const isProcess = target.pids.length > 0;
  return {
    callsPerSecond: amount / result.seconds,
    p50Ms: percentile(result.answerMs, 0.5),
    p99Ms: percentile(result.answerMs, 0.99),
    headP50Ms: percentile(result.headMs, 0.5),
    aloneP50Ms: alone ? percentile(alone, 0.5) : null,
    aloneP99Ms: alone ? percentile(alone, 0.99) : null,
    cpuMicros: isProcess ? (after.cpuMicros - cpuBefore) / amount : null,
    redisMicros: target.redis ? (redisAfter - redisBefore) / amount : null,
    rssMb: isProcess ? after.rssBytes / 2 ** 20 : null,
  };
}

/** Sequential calls: the duration of each without queues. */
async function measureAlone(
  target: Target,
  options: RoundOptions,
  loadedMs: readonly number[],
): Promise<readonly number[]> {
  // One of `connections` concurrent calls takes up to this many times as long as one alone.
  const aloneMs = percentile(loadedMs, 0.5) / options.connections;
  const amount = Math.max(20, Math.round((options.seconds * ALONE_SHARE * 1_000) / (4 * aloneMs)));
  return (await loadOn(target, options, 1, amount)).answerMs;
}

function loadOn(target: Target, options: RoundOptions, connections: number, amount: number) {
  const all = target.requests ?? options.requests;
  // Continues where the last load ended; otherwise short loads would only ever send the first of many requests.
  const from = (sent.get(target) ?? 0) % all.length;
  sent.set(target, from + amount);
  const requests = [...all.slice(from), ...all.slice(0, from)].slice(0, amount);
  return load({ urls: target.urls, connections, amount, requests, accepts: [200] }).catch((cause: Error) => {
    throw new Error(`${target.name}: ${cause.message}`, { cause });
  });
}

function medians(samples: readonly Measured[]): Measured {
  const of = (read: (sample: Measured) => number | null) => {
    const values = samples.map(read).filter((value) => value !== null);
    return percentile(
      values.sort((a, b) => a - b),
      0.5,
    );
  };
  const orNull = (read: (sample: Measured) => number | null) =>
    samples.some((sample) => read(sample) === null) ? null : of(read);
  return {
    callsPerSecond: of((sample) => sample.callsPerSecond),
    p50Ms: of((sample) => sample.p50Ms),
    p99Ms: of((sample) => sample.p99Ms),
    headP50Ms: of((sample) => sample.headP50Ms),
    aloneP50Ms: orNull((sample) => sample.aloneP50Ms),
    aloneP99Ms: orNull((sample) => sample.aloneP99Ms),
    cpuMicros: orNull((sample) => sample.cpuMicros),
    redisMicros: orNull((sample) => sample.redisMicros),
    rssMb: orNull((sample) => sample.rssMb),
  };
}

/** Percentile of ascending values; NaN if there are none. */
export function percentile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(ascending.length * share))] ?? Number.NaN;
}
