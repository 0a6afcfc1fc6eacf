import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chatCall } from './call-request.ts';
import { Caller, UnexpectedStatus } from './caller.ts';
import type { Check } from './check.ts';
import type { Options } from './options.ts';
import { pacedLoad } from './paced-load.ts';
import type { Column, ProfileReport, Row } from './report.ts';
import { percentile } from './rounds.ts';
import { type Sample, sampleOf } from './soak-sample.ts';
import { onStage, type Stage } from './stage.ts';
import { MODEL } from './wire.ts';

const PRELOAD = fileURLToPath(new URL('collect-on-signal.mjs', import.meta.url));
const TENTHS = 10;
/** Pause before a sample, in which the journal drains and the garbage of the last calls becomes collectable. */
const QUIET_MS = 2_000;
/** Allowed growth of the heap from the second to the last tenth: caches fill and code is compiled. */
const SLACK_MB = 2;
const CONNECTIONS = 128;
/** Callers that measure the capacity of the machine. */
const CLOSED_LOOP = 64;
const SHORT_STREAM = { chunks: 20, intervalMs: 5 };

const COLUMNS: readonly Column[] = [
  { key: 'seconds', title: 'seconds', digits: 0 },
  { key: 'calls', title: 'calls', digits: 0 },
  { key: 'heapMb', title: 'heap after GC MB', digits: 2 },
  { key: 'externalMb', title: 'external MB', digits: 2 },
  { key: 'rssMb', title: 'RSS MB', digits: 0 },
  { key: 'handles', title: 'handles', digits: 0 },
  { key: 'journal', title: 'journal', digits: 0 },
  { key: 'redisMb', title: 'Redis MB', digits: 1 },
];

/** A mixed load at half the capacity of the machine, for minutes, to find unwanted growth. */
export async function soak({ soakSeconds: seconds }: Options): Promise<ProfileReport> {
  const shape = {
    accounts: 100,
    keysEach: 2,
    restricted: true,
    nodeArgs: ['--expose-gc', '--import', PRELOAD],
  };
  const { result, checks } = await onStage(shape, async (stage) => {
    let unavailable = 0;
    const sendOne = sender(stage);
    const send = (index: number) =>
      sendOne(index).catch((error: unknown) => {
        // If the machine starves Redis, the gateway logs it: no growth, but worth knowing.
        if (!(error instanceof UnexpectedStatus) || error.status !== 503) throw error;
        unavailable += 1;
      });
    const perSecond = Math.round((await most(send)) / 2);
    const tenths: Sample[] = [];
    const answerMs: number[] = [];
    for (let tenth = 1; tenth <= TENTHS; tenth++) {
      const before = answerMs.length;
      const load = { perSecond, seconds: seconds / TENTHS, send: (index: number) => send(before + index) };
      for (const milliseconds of await pacedLoad(load)) answerMs.push(milliseconds);
      // Calls in flight would count as heap.
      await sleep(QUIET_MS);
      tenths.push(await sampleOf(stage, (tenth * seconds) / TENTHS, answerMs.length));
    }
    answerMs.sort((a, b) => a - b);
    return { perSecond, answerMs, tenths, unavailable };
  });
  const { perSecond, answerMs, tenths, unavailable } = result;
  const about = `${perSecond} calls a second, half of what this machine can, for ${seconds} s: JSON, streams, refusals, clients that leave`;
  const rows: Row[] = tenths.map((values, tenth) => ({ target: `tenth ${tenth + 1}`, values }));
  const p99 = percentile(answerMs, 0.99).toFixed(0);
  const note = `${answerMs.length} calls, p50 ${percentile(answerMs, 0.5).toFixed(1)} ms, p99 ${p99} ms; streams take ${SHORT_STREAM.chunks * SHORT_STREAM.intervalMs} ms by themselves; ${unavailable} calls were answered 503`;
  return { profile: 'soak', about, columns: COLUMNS, rows, checks: [...checks, flat(tenths)], notes: [note] };
}

function flat(tenths: readonly Sample[]): Check {
  const [second, last] = [tenths[1]?.heapMb ?? Number.NaN, tenths.at(-1)?.heapMb ?? Number.NaN];
  return {
    name: 'the heap does not grow',
    holds: last - second <= SLACK_MB,
    detail: `after GC ${second.toFixed(2)} MB in the second tenth, ${last.toFixed(2)} MB in the last; ${SLACK_MB} MB more are allowed`,
  };
}

/** Calls per second of the same kinds if each waits for the previous one. */
async function most(send: (index: number) => Promise<void>): Promise<number> {
  let next = 0;
  const run = async (amount: number) => {
    const startedAt = performance.now();
    const end = next + amount;
    const one = async () => {
      while (next < end) await send(next++);
    };
    await Promise.all(Array.from({ length: CLOSED_LOOP }, one));
    return (amount * 1_000) / (performance.now() - startedAt);
  };
  await run(3_000);
  return await run(6_000);
}

/** Of twenty calls: 13 JSON, 3 streams, 1 client that leaves a stream, and 3 refused. */
function sender({ gateway, accounts }: Stage): (index: number) => Promise<void> {
  const caller = new Caller(gateway.urls[0] ?? '', CONNECTIONS);
  const calls = accounts.map(({ keys: [first = '', second = ''] }) => ({
    json: chatCall(first, { promptBytes: 750 }),
    stream: chatCall(second, { promptBytes: 750, stream: true, behavior: SHORT_STREAM }),
    unknownKey: chatCall(`${first.slice(0, -1)}!`, { promptBytes: 750 }),
  }));
  return async (index) => {
    const { json, stream, unknownKey } = calls[index % calls.length] ?? calls[0] ?? never();
    const kind = index % 20;
    if (kind < 13) return await caller.call(json, 200);
    if (kind < 16) return await caller.call(stream, 200);
    if (kind < 17) return await caller.leave(stream);
    if (kind < 18) return await caller.call(unknownKey, 401);
    const unknownModel = { ...json, body: json.body.replace(MODEL, `nothing-${index}`) };
    return await caller.call(unknownModel, 404);
  };
}

function never(): never {
  throw new RangeError('the stage has accounts');
}
