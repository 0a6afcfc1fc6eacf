import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { FairPool, type PoolBounds } from './fair-pool.ts';

const MIB = 1024 * 1024;

/** Concurrent alert POSTs. Each takes a connection and some 50 KB, so all together stay below 32 MB. */
export const ALERT_POSTS = { all: 512, ofOne: 16 } as const;

/** Records of refused calls not yet in the book: at most 10 MB (specification section 14). */
export const WAITING_REFUSALS = { all: 10_000, ofOne: 1_250 } as const;

/**
 * Bounds of every resource of the process that accounts share. `docs/guarantees.md` lists the memory of each. What waits
 * is in several pools: a write holds its share of `writes` while it waits for the book, and a receiver of alerts that
 * does not answer must not delay its account's calls.
 */
export function poolBounds({ callBytes, heldBytes, unreadCalls, connections, scale }: MemoryBudget) {
  const mib = (all: number, ofOne: number) => ({ all: all * MIB * scale, ofOne: ofOne * MIB * scale });
  return {
    /** Open connections by remote address, which may be a proxy's. */
    connections: { places: { all: connections, ofOne: connections, spare: connections / 8 } },
    /** Requests that wait on their connection for the answer before, by remote address; without room, it is cut. */
    ahead: { bytes: mib(16, 8) },
    /** Model calls with their bodies, from the first byte until the call is settled and its answer sent. */
    calls: { bytes: { all: callBytes, ofOne: callBytes / 2, spare: callBytes / 8 } },
    /** Held answers of calls; without room, an answer is passed on as it arrives. */
    held: { bytes: { all: heldBytes, ofOne: heldBytes / 2 } },
    /** Calls whose client does not read the answer that is passed on as it arrives; without room, the call is cut off. */
    unread: { places: { all: unreadCalls, ofOne: Math.floor(0.75 * unreadCalls) } },
    /** Bodies of model calls received in memory; without room, a body goes to a file. */
    bodies: { bytes: mib(64, 32) },
    /** Large bodies being parsed. JSON takes mostly far less memory than its size, at worst a few times its size. */
    reading: { places: { all: 4, ofOne: 1 }, bytes: mib(16, 8) },
    /** Answers of `/api/` over 64 KiB until they are sent; of lists and exports, the page that is being sent. */
    answers: { bytes: mib(64, 16) },
    /** Requests of owners to `/api/` that have a body or change something, with their bodies. */
    writes: { places: { all: 512, ofOne: 16 }, bytes: mib(64, 16) },
    /** Their transactions in the book, and queries of entries, calls and sums. */
    book: { places: { all: 16, ofOne: 2 } },
    alerts: { places: ALERT_POSTS },
    refusals: { places: WAITING_REFUSALS },
  } satisfies Record<string, PoolBounds>;
}

type PoolName = keyof ReturnType<typeof poolBounds>;
type ByAddress = 'connections' | 'ahead';
export type Pools = Readonly<
  Record<Exclude<PoolName, ByAddress>, FairPool> & Record<ByAddress, FairPool<string>>
>;

export function makePools(memory: MemoryBudget): Pools {
  const bounds: Readonly<Record<PoolName, PoolBounds>> = poolBounds(memory);
  const pools = Object.entries(bounds).map(([name, bound]) => [name, new FairPool(bound)] as const);
  return Object.fromEntries(pools) as unknown as Pools;
}

/** Memory of a process before its first call (140 MiB), of idle connections, garbage and fragmentation. */
const BASE_BYTES = 320 * MIB;
/** Memory beyond `BASE_BYTES` that the fixed bounds of pools require; with less, they shrink in proportion. */
const FULL_BYTES = 704 * MIB;
/** Memory of a call whose client does not read the answer: the buffers of both connections. */
const UNREAD_BYTES = 512 * 1024;

/** Memory that clients' work may take in this process (`docs/guarantees.md`, "Memory is a budget"). */
export interface MemoryBudget {
  /** Bytes of calls in flight, with their bodies. */
  readonly callBytes: number;
  /** Bytes of their held answers. */
  readonly heldBytes: number;
  /** Calls whose client does not read the answer that is passed on as it arrives. */
  readonly unreadCalls: number;
  /** Bytes of the cache of compiled keys. */
  readonly cachedKeyBytes: number;
  /** Concurrent connections. */
  readonly connections: number;
  /** Factor for bounds in bytes that do not grow with the memory: above 0, at most 1. */
  readonly scale: number;
}

interface MemoryOptions {
  /** The operator's setting for this process, in MiB; undefined: all available memory. */
  readonly memoryMb?: number | undefined;
  /** Gateway processes that share the available memory. */
  readonly processes: number;
}

/**
 * Divides the memory of a process beyond its base: 35 % for calls, 30 % for clients that do not read, 12 % for held
 * answers, the rest for the other pools and the cache of keys. A connection without a request takes 12 KB.
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
 * Bytes that one of `processes` gateways may use: its part of the container or machine, at most twice Node's heap
 * limit, because bodies and answers lie outside the heap.
 */
function memoryFound(processes: number): number {
  // Without a limit, the system reports 0 or more than the machine has.
  const limit = process.constrainedMemory();
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.floor(Math.min(available / processes, 2 * getHeapStatistics().heap_size_limit));
}
