import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { FairPool, type PoolBounds } from './fair-pool.ts';

const MIB = 1024 * 1024;

/** POSTs of alerts under way. Each is a connection and some 50 KB, so that all together stay below 32 MB. */
export const ALERT_POSTS = { all: 512, ofOne: 16 } as const;

/** Records of refused calls that wait for the book: 10 MB at most (specification section 14). */
export const WAITING_REFUSALS = { all: 10_000, ofOne: 1_250 } as const;

/** Share of one account of the calls that wait (specification section 11). */
const WAITING_SHARE = 8;

interface PoolOptions {
  /** Calls that may wait for room in limits of calls. */
  readonly waitingCalls: number;
  readonly memory: MemoryBudget;
}

/**
 * Every resource of the process that accounts share, with its bounds. `docs/guarantees.md` has the table of what each
 * of them takes.
 */
export function poolBounds({ waitingCalls, memory }: PoolOptions) {
  const { callBytes, heldBytes, unreadCalls, connections, scale } = memory;
  const mib = (all: number, ofOne: number) => ({ all: all * MIB * scale, ofOne: ofOne * MIB * scale });
  return {
    /** Open connections, by the address they come from, which may be a proxy's. */
    connections: { places: { all: connections, ofOne: connections, spare: connections / 8 } },
    /** Model calls with their bodies, from its first byte until they are settled and their answer is sent. */
    calls: { bytes: { all: callBytes, ofOne: callBytes / 2, spare: callBytes / 8 } },
    /** Their answers, as far as they are held; those without room are passed on as they come. */
    held: { bytes: { all: heldBytes, ofOne: heldBytes / 2 } },
    /** Calls whose client does not take the answer, which is passed on as it comes; those without room are broken off. */
    unread: { places: { all: unreadCalls, ofOne: Math.floor(0.75 * unreadCalls) } },
    /** Bodies of model calls that are being received in memory; those without room are received in a file. */
    bodies: { bytes: mib(64, 8) },
    /** Calls that wait for room in limits of calls. */
    waiting: {
      // Of fewer than eight an eighth is no call.
      places: {
        all: waitingCalls,
        ofOne: waitingCalls < WAITING_SHARE ? waitingCalls : Math.floor(waitingCalls / WAITING_SHARE),
      },
    },
    /** Waits that end with a refusal at once; each asks Redis once more. */
    ends: { places: { all: 50, ofOne: 50 } },
    /** Large bodies that are read. Reading JSON takes memory: mostly far less than its size, at worst a few times it. */
    reading: { places: { all: 4, ofOne: 1 }, bytes: mib(16, 8) },
    /** Steps of such reading that block the event loop for some 10 ms. */
    steps: { places: { all: 1, ofOne: 1 } },
    /** Estimates of usage that no provider reported: each decodes, copies and counts up to a MiB of text. */
    estimates: { places: { all: 16, ofOne: 4 } },
    /** Exports and whole lists that are being sent; each keeps a page of the book. */
    exports: { places: { all: 64, ofOne: 8 } },
    /** Other answers of `/api/` over 64 KiB, until they are sent. */
    answers: { bytes: mib(32, 8) },
    /** Requests of owners to `/api/` that have a body or change something, and the bodies. */
    writes: { places: { all: 512, ofOne: 16 }, bytes: mib(64, 16) },
    /** Their transactions in the book. */
    transactions: { places: { all: 8, ofOne: 1 } },
    /** Queries of entries, calls and sums in the book. */
    queries: { places: { all: 16, ofOne: 2 } },
    alerts: { places: ALERT_POSTS },
    refusals: { places: WAITING_REFUSALS },
  } satisfies Record<string, PoolBounds>;
}

type PoolName = keyof ReturnType<typeof poolBounds>;
export type Pools = Readonly<
  Record<Exclude<PoolName, 'connections'>, FairPool> & Record<'connections', FairPool<string>>
>;

/** Makes the pools of a process. */
export function makePools(options: PoolOptions): Pools {
  const bounds: Readonly<Record<PoolName, PoolBounds>> = poolBounds(options);
  const pools = Object.entries(bounds).map(([name, bound]) => [name, new FairPool(bound)] as const);
  return Object.fromEntries(pools) as unknown as Pools;
}

/** Memory of a process before its first call, 140 MiB, of idle connections, garbage, and gaps that the allocator leaves. */
const BASE_BYTES = 320 * MIB;
/** Memory beyond `BASE_BYTES` from which on the fixed bounds of pools hold; with less they shrink with it. */
const FULL_BYTES = 704 * MIB;
/** Memory of a call whose client does not take its answer: text that is kept, and the buffers of both connections. */
const UNREAD_BYTES = 512 * 1024;

/** Memory of the process that the work of its clients may take (`docs/guarantees.md`, "Memory is a budget"). */
export interface MemoryBudget {
  /** Bytes of calls in flight and waiting calls, with their bodies. */
  readonly callBytes: number;
  /** Bytes of the answers that are held for them. */
  readonly heldBytes: number;
  /** Calls whose answer is passed on as it comes, while their clients do not take it. */
  readonly unreadCalls: number;
  /** Bytes of the cache of compiled keys. */
  readonly cachedKeyBytes: number;
  /** Connections that may be open at once. */
  readonly connections: number;
  /** Factor for bounds in bytes that do not grow with the memory: above 0, at most 1. */
  readonly scale: number;
}

interface MemoryOptions {
  /** Memory of this process in MiB, as the operator says; undefined: as much as there is. */
  readonly memoryMb?: number | undefined;
  /** Gateway processes that share what there is. */
  readonly processes: number;
}

/**
 * Divides the memory of a process: 35 % of what is not its base for calls, 30 % for clients that do not read, 12 % for held
 * answers, and the rest for the other pools and the cache of keys. A connection without a request takes 12 KB.
 */
export function memoryBudget({ memoryMb, processes }: MemoryOptions): MemoryBudget {
  const bytes = memoryMb === undefined ? memoryFound(processes) : memoryMb * MIB;
  const free = Math.max(bytes - BASE_BYTES, bytes / 4);
  const scale = Math.min(1, free / FULL_BYTES);
  return {
    callBytes: Math.floor(0.35 * free),
    heldBytes: Math.floor(0.12 * free),
    unreadCalls: Math.floor((0.3 * free) / UNREAD_BYTES),
    cachedKeyBytes: Math.floor(64 * MIB * scale),
    connections: Math.floor(bytes / (128 * 1024)),
    scale,
  };
}

/**
 * Bytes that one of `processes` gateways may use: its part of the container or machine, and at most twice the heap that Node
 * was given, because bodies and answers lie outside the heap.
 */
function memoryFound(processes: number): number {
  // Without a limit the system reports 0, or a number beyond all memory.
  const limit = process.constrainedMemory();
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.floor(Math.min(available / processes, 2 * getHeapStatistics().heap_size_limit));
}
