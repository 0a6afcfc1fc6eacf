import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN } from './gateway.ts';
import type { Stage } from './stage.ts';
import { usageOf } from './usage.ts';

const COLLECTED_MS = 1_000;
const MEBIBYTE = 2 ** 20;

/** A sample of the gateway right after a full garbage collection. */
export type Sample = {
  readonly seconds: number;
  readonly calls: number;
  readonly heapMb: number;
  readonly externalMb: number;
  readonly rssMb: number;
  readonly handles: number;
  /** Journal entries that the book lacks. */
  readonly journal: number;
  readonly redisMb: number;
};

/** Reads the gateway's metrics. The gateway must have been started with collect-on-signal.mjs. */
export async function sampleOf({ gateway, redis }: Stage, seconds: number, calls: number): Promise<Sample> {
  const [pid = 0] = gateway.pids;
  process.kill(pid, 'SIGUSR2');
  // The signal and a request would race for the gateway's event loop.
  await sleep(COLLECTED_MS);
  const response = await fetch(`${gateway.urls[0]}/metrics`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  const text = await response.text();
  const metric = (name: string) => Number(new RegExp(`^${name}(?:{[^}]*})? (.+)$`, 'm').exec(text)?.[1]);
  const memory = await redis.info('memory');
  return {
    seconds,
    calls,
    heapMb: metric('nodejs_heap_size_used_bytes') / MEBIBYTE,
    externalMb: metric('nodejs_external_memory_bytes') / MEBIBYTE,
    rssMb: usageOf(gateway.pids).rssBytes / MEBIBYTE,
    handles: metric('nodejs_active_resources_total'),
    journal: metric('tollgate_journal_backlog'),
    redisMb: Number(/^used_memory:(\d+)/m.exec(memory)?.[1]) / MEBIBYTE,
  };
}
