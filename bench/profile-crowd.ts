import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { CREDITS, changeCredits, makeAccounts } from './accounts.ts';
import { chatCall } from './call-request.ts';
import { Caller } from './caller.ts';
import type { Check } from './check.ts';
import { Cleanup } from './cleanup.ts';
import { makePlace, startGateway } from './gateway.ts';
import type { Options } from './options.ts';
import { pacedLoad } from './paced-load.ts';
import { startServer } from './program.ts';
import type { Column, ProfileReport, Row } from './report.ts';
import { percentile } from './rounds.ts';

/**
 * Behavior of a crowd's connections: send a body of many parts, withhold its end, or never read a stream or an answer.
 */
export type Kind = 'bodies' | 'uploads' | 'streams' | 'answers';

export interface Crowd {
  /** The gateway's address. */
  readonly url: string;
  /** One key per account. */
  readonly keys: readonly string[];
  /** Connections per account. */
  readonly kinds: Readonly<Partial<Record<Kind, number>>>;
}

const SCENES: readonly {
  readonly name: string;
  readonly accounts: number;
  readonly kinds: Crowd['kinds'];
}[] = [
  { name: 'nobody else', accounts: 0, kinds: {} },
  { name: '900 bodies of 64 KB', accounts: 1, kinds: { bodies: 900 } },
  { name: '300 uploads', accounts: 1, kinds: { uploads: 300 } },
  { name: '1,000 uploads', accounts: 1, kinds: { uploads: 1_000 } },
  { name: '150 answers', accounts: 1, kinds: { answers: 150 } },
  { name: '500 answers', accounts: 1, kinds: { answers: 500 } },
  { name: '500 streams', accounts: 1, kinds: { streams: 500 } },
  { name: '3 × 500 streams', accounts: 3, kinds: { streams: 500 } },
  { name: '3 × all of it', accounts: 3, kinds: { streams: 400, answers: 400, uploads: 250, bodies: 250 } },
];

/** Memory of the gateway's container, and Node's default heap in one. */
const MEMORY_MB = 512;
const HEAP_MB = 259;
const CALLS_PER_SECOND = 50;
const WARM_UP_SECONDS = 4;
/** Fewer than the 64 connections reserved for an address (src/shares/pools.ts). */
const CONNECTIONS = 48;

/** A loopback address of Linux that the crowd doesn't use. */
const OTHER_ADDRESS = process.platform === 'linux' ? '127.0.0.2' : undefined;

const COLUMNS: readonly Column[] = [
  { key: 'p50Ms', title: 'p50 ms', digits: 1 },
  { key: 'p99Ms', title: 'p99 ms', digits: 0 },
  { key: 'failed', title: 'failed', digits: 0 },
  { key: 'peakMb', title: 'peak MB', digits: 0 },
];

/** The wait of one account's calls while others crowd a small gateway, and the memory used (Linux). */
export async function crowd({ quick }: Options): Promise<ProfileReport> {
  const rows: Row[] = [];
  const checks: Check[] = [];
  for (const scene of SCENES) {
    const { values, failures } = await play(scene, quick ? 5 : 15);
    rows.push({ target: scene.name, values });
    const holds = values.failed === 0 && values.peakMb < MEMORY_MB;
    checks.push({
      name: scene.name,
      holds,
      detail: `${values.failed} calls failed, ${values.peakMb.toFixed(0)} MB${failures[0] ? `: ${failures[0]}` : ''}`,
    });
  }
  const about = `${CALLS_PER_SECOND} calls/s of one account at a gateway in ${MEMORY_MB} MB, beside connections that send slowly or read nothing`;
  return { profile: 'crowd', about, columns: COLUMNS, rows, checks, notes: [] };
}

async function play({ accounts, kinds }: (typeof SCENES)[number], seconds: number) {
  const cleanup = new Cleanup();
  try {
    const program = [new URL('crowd.ts', import.meta.url).pathname];
    // In separate processes, so the neighbor's answers don't wait for them.
    const callers = await startServer(cleanup, 'the crowd', program);
    const crowdProvider = await startServer(cleanup, "the crowd's provider", program);
    const provider = await startServer(cleanup, 'the provider', program);
    const small = { memoryMb: MEMORY_MB, crowdUrl: crowdProvider.url };
    const place = makePlace(cleanup, provider.url, {}, small);
    const [victim, ...others] = await makeAccounts(place, {
      accounts: accounts + 1,
      keysEach: 1,
      restricted: false,
    });
    const gateway = await startGateway(cleanup, place, {
      nodeArgs: [`--max-heap-size=${HEAP_MB}`],
    });
    for (const account of [victim, ...others]) if (account) await changeCredits(gateway, account.id, CREDITS);
    const call = chatCall(victim?.keys[0] ?? '', { promptBytes: 500 });
    const caller = new Caller(gateway.url, CONNECTIONS, OTHER_ADDRESS);
    const failures: string[] = [];
    const send = () => caller.call(call, 200).catch((error: Error) => void failures.push(error.message));
    const load = { perSecond: CALLS_PER_SECOND, send };
    // Opens the connections first: a new one would wait behind those of the crowd.
    await Promise.all(Array.from({ length: CONNECTIONS }, send));
    await pacedLoad({ ...load, seconds: WARM_UP_SECONDS });
    let peakMb = 0;
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, anonymousMb(gateway.pid));
    }, 100);
    cleanup.add(() => clearInterval(watch));
    const measured = pacedLoad({ ...load, seconds });
    await sleep(500);
    const begun = { url: gateway.url, keys: others.flatMap(({ keys }) => keys), kinds } satisfies Crowd;
    // It gets no answer: the crowd's connections end with its process.
    const crowded = fetch(`${callers.url}/crowd`, { method: 'POST', body: JSON.stringify(begun) });
    crowded.catch(() => {});
    const answerMs = await measured;
    await caller.close();
    // First, so the gateway has nothing to wait for when it stops.
    await Promise.all([callers, crowdProvider, provider].map((server) => server.stop()));
    const values = {
      p50Ms: percentile(answerMs, 0.5),
      p99Ms: percentile(answerMs, 0.99),
      failed: failures.length,
      peakMb,
    };
    return { values, failures };
  } finally {
    await cleanup.run();
  }
}

/**
 * Memory that counts against a container's limit: the kernel drops file pages, such as the program's 60 MB, before it
 * kills.
 */
function anonymousMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}
