import { setTimeout as sleep } from 'node:timers/promises';
import { type CallRequest, chatCall } from './call-request.ts';
import { openStreams } from './open-streams.ts';
import type { Options } from './options.ts';
import { peerRequest, peerTarget } from './peer.ts';
import type { Column, ProfileReport, Row } from './report.ts';
import { onStage } from './stage.ts';
import type { Target } from './target.ts';
import { redisCpuMicros, usageOf } from './usage.ts';

/** Slow enough that all are open for seconds before the first one ends. */
const SLOW = { chunks: 16, intervalMs: 500 };
/** Only a few: more would leave freed memory that the measured streams would then reuse. */
const WARM_UP_STREAMS = 10;
const QUIET_MS = 1_000;

const COLUMNS: readonly Column[] = [
  { key: 'openInMs', title: 'all open in ms', digits: 0 },
  { key: 'kbEach', title: 'KB/stream', digits: 1 },
  { key: 'ratio', title: 'memory ratio', digits: 2 },
  { key: 'cpuMicros', title: 'CPU µs/stream', digits: 0 },
  { key: 'redisMicros', title: 'Redis µs/stream', digits: 0 },
  { key: 'rssMb', title: 'RSS MB', digits: 0 },
];

/** Memory of each of many concurrent streams. */
export async function streams(options: Options): Promise<ProfileReport> {
  const about = `${options.streams} streams open at once, a chunk every ${SLOW.intervalMs} ms each`;
  const { peer, upstreamPort, streams: count } = options;
  const shape = { accounts: 1, keysEach: 1, restricted: true, upstreamPort };
  const { result, checks } = await onStage(shape, async (stage) => {
    const key = stage.accounts[0]?.keys[0] ?? '';
    const others = peer ? [peerTarget(peer, [])] : [];
    const rows: Row[] = [];
    for (const target of [stage.baseline, stage.gateway, ...others]) {
      const requestOf = (behavior: object) => {
        const call = chatCall(key, { promptBytes: 200, stream: true, behavior });
        return peer && others.includes(target) ? peerRequest(peer, call) : call;
      };
      // The memory of a process can't be seen from outside.
      if (target.pids.length === 0) continue;
      rows.push({ target: target.name, values: await measureStreams(target, count, requestOf) });
    }
    const base = rows[0]?.values.kbEach;
    return rows.map(({ target, values }) => ({
      target,
      values: { ...values, ratio: base && values.kbEach ? values.kbEach / base : null },
    }));
  });
  return { profile: 'streams', about, columns: COLUMNS, rows: result, checks, notes: [] };
}

async function measureStreams(
  target: Target,
  count: number,
  call: (behavior: object) => CallRequest,
): Promise<Row['values']> {
  const url = target.urls[0] ?? '';
  const warm = openStreams(url, WARM_UP_STREAMS, call({ chunks: 50, intervalMs: 10 }));
  await warm.allOpen;
  await warm.allEnded;
  await sleep(QUIET_MS);
  const before = usageOf(target.pids);
  const redisBefore = target.redis ? await redisCpuMicros(target.redis) : 0;
  const startedAt = performance.now();
  const { allOpen, allEnded } = openStreams(url, count, call(SLOW));
  await allOpen;
  const openInMs = performance.now() - startedAt;
  await sleep(QUIET_MS);
  const open = usageOf(target.pids);
  await allEnded;
  await sleep(QUIET_MS);
  const redisAfter = target.redis ? await redisCpuMicros(target.redis) : 0;
  return {
    openInMs,
    kbEach: (open.rssBytes - before.rssBytes) / 1024 / count,
    cpuMicros: (usageOf(target.pids).cpuMicros - before.cpuMicros) / count,
    redisMicros: target.redis ? (redisAfter - redisBefore) / count : null,
    rssMb: open.rssBytes / 2 ** 20,
  };
}
