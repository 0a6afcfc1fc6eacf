import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';

const MIB = 1024 * 1024;

/** Memory of a process before its first call, 140 MiB, and garbage that was not collected yet. */
const BASE_BYTES = 200 * MIB;
/** Memory beyond `BASE_BYTES` from which on the fixed bounds of pools hold; with less they shrink with it. */
const FULL_BYTES = 824 * MIB;
/** Memory of a call whose client does not take its answer: text that is kept, and the buffers of both connections. */
const UNREAD_BYTES = 384 * 1024;

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

export interface MemoryOptions {
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
