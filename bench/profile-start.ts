import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeCredits, makeAccounts } from './accounts.ts';
import { chatCall } from './call-request.ts';
import { Caller } from './caller.ts';
import type { Check } from './check.ts';
import { Cleanup } from './cleanup.ts';
import { makePlace, startGateway } from './gateway.ts';
import { startServer } from './program.ts';
import type { Column, ProfileReport } from './report.ts';
import { percentile } from './rounds.ts';
import { usageOf } from './usage.ts';

const STARTS = 5;
const IDLE_AFTER_MS = 5_000;
const BAR = { startMs: 1_500, rssMb: 125 };
const UPSTREAM = new URL('upstream.ts', import.meta.url).pathname;

const COLUMNS: readonly Column[] = [
  { key: 'leastMs', title: 'first answer ms', digits: 0 },
  { key: 'startMs', title: 'median', digits: 0 },
  { key: 'cpuMs', title: 'CPU ms', digits: 0 },
  { key: 'rssMb', title: 'idle RSS MB', digits: 0 },
  { key: 'anonMb', title: 'of it private MB', digits: 0 },
];

/**
 * The time from the start of the process to the first answer of a model, with files in the page cache, and the memory
 * of an idle gateway.
 */
export async function start(): Promise<ProfileReport> {
  const about = `from the start of the process to the first answer of a model, the fastest and the median of ${STARTS}; memory of one that was called never, after ${IDLE_AFTER_MS / 1_000} s`;
  const cleanup = new Cleanup();
  try {
    const upstream = await startServer(cleanup, 'the upstream', [UPSTREAM, '0']);
    const place = makePlace(cleanup, upstream.url);
    const [account] = await makeAccounts(place, { accounts: 1, keysEach: 1, restricted: false });
    if (!account) throw new RangeError('one account was made');
    const call = chatCall(account.keys[0] ?? '', { promptBytes: 200 });
    const first = await startGateway(cleanup, place);
    await changeCredits(first, account.id, 1_000);
    await first.stop();
    const startMs: number[] = [];
    const cpuMs: number[] = [];
    for (let index = 0; index < STARTS; index++) {
      const startedAt = performance.now();
      const gateway = await startGateway(cleanup, place);
      const caller = new Caller(gateway.url, 1);
      await caller.call(call, 200);
      startMs.push(performance.now() - startedAt);
      cpuMs.push(usageOf([gateway.pid]).cpuMicros / 1_000);
      await caller.close();
      await gateway.stop();
    }
    const idle = await startGateway(cleanup, place);
    await sleep(IDLE_AFTER_MS);
    const values = {
      leastMs: Math.min(...startMs),
      startMs: median(startMs),
      cpuMs: median(cpuMs),
      rssMb: usageOf([idle.pid]).rssBytes / 2 ** 20,
      anonMb: privateMb(idle.pid),
    };
    await idle.stop();
    const rows = [{ target: 'SQLite, private Redis', values }];
    return { profile: 'start', about, columns: COLUMNS, rows, checks: checksOf(values), notes: [] };
  } finally {
    await cleanup.run();
  }
}

function median(values: readonly number[]): number {
  return percentile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}

/** Counts the fastest start: other load on the machine only slows starts down. */
function checksOf({ leastMs, rssMb }: { leastMs: number; rssMb: number }): Check[] {
  return [
    {
      name: `first answer within ${BAR.startMs} ms`,
      holds: leastMs <= BAR.startMs,
      detail: `${leastMs.toFixed(0)} ms`,
    },
    {
      name: `idle in ${BAR.rssMb} MB`,
      holds: rssMb <= BAR.rssMb,
      detail: `${rssMb.toFixed(0)} MB, pages of Node's own file included`,
    },
  ];
}

/** Memory that no other process shares; only Linux reports it. */
function privateMb(pid: number): number | null {
  const status = `/proc/${pid}/status`;
  if (!existsSync(status)) return null;
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]) / 1024;
}
