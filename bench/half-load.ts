import type { CallRequest } from './call-request.ts';
import { Caller } from './caller.ts';
import { pacedLoad } from './paced-load.ts';
import type { Column, Row } from './report.ts';
import { type Measured, percentile } from './rounds.ts';
import type { Target } from './target.ts';
import { usageOf } from './usage.ts';

const CONNECTIONS = 64;

const COLUMNS: readonly Column[] = [
  { key: 'halfP50Ms', title: 'half: p50', digits: 2 },
  { key: 'halfP99Ms', title: 'half: p99', digits: 2 },
  { key: 'halfCpuMicros', title: 'half: CPU', digits: 0 },
];

interface HalfLoad {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
}

export interface HalfLoadOptions {
  readonly requests: readonly CallRequest[];
  readonly seconds: number;
  readonly rounds: number;
}

/** Calls per second: half the maximum of the slowest target. */
export function halfOf(targets: readonly Target[], measured: ReadonlyMap<string, Measured>): number {
  return Math.floor(Math.min(...targets.map(({ name }) => measured.get(name)?.callsPerSecond ?? 0)) / 2);
}

/** Measures the targets in turn at the same fixed pace: the wait of a caller without full queues. */
export async function withHalfLoad(
  table: { columns: readonly Column[]; rows: readonly Row[] },
  targets: readonly Target[],
  perSecond: number,
  options: HalfLoadOptions,
): Promise<{ columns: readonly Column[]; rows: Row[] }> {
  const samples = new Map<string, HalfLoad[]>();
  for (let round = 0; round < options.rounds; round++) {
    for (const target of targets) {
      samples.set(target.name, [
        ...(samples.get(target.name) ?? []),
        await measureHalf(target, perSecond, options),
      ]);
    }
  }
  const rows = table.rows.map(({ target, values }) => {
    const all = samples.get(target);
    if (!all) return { target, values };
    const median = (key: keyof HalfLoad) =>
      percentile(
        all.map((each) => each[key]).sort((a, b) => a - b),
        0.5,
      );
    const half = {
      halfP50Ms: median('p50Ms'),
      halfP99Ms: median('p99Ms'),
      halfCpuMicros: median('cpuMicros'),
    };
    return { target, values: { ...values, ...half } };
  });
  return { columns: [...table.columns, ...COLUMNS], rows };
}

async function measureHalf(target: Target, perSecond: number, options: HalfLoadOptions): Promise<HalfLoad> {
  const { seconds } = options;
  const requests = target.requests ?? options.requests;
  const caller = new Caller(target.urls[0] ?? '', CONNECTIONS);
  const send = async (index: number) => {
    const request = requests[index % requests.length];
    if (request) await caller.call(request, 200);
  };
  await pacedLoad({ perSecond, seconds: seconds / 4, send });
  const before = usageOf(target.pids).cpuMicros;
  const answerMs = await pacedLoad({ perSecond, seconds, send });
  const cpuMicros = (usageOf(target.pids).cpuMicros - before) / answerMs.length;
  await caller.close();
  return { p50Ms: percentile(answerMs, 0.5), p99Ms: percentile(answerMs, 0.99), cpuMicros };
}
