import { FairPool, type PoolBounds } from './fair-pool.ts';
import type { MemoryBudget } from './memory-budget.ts';

const MIB = 1024 * 1024;

/** POSTs of alerts under way. Each is a connection and some 50 KB, so that all together stay below 32 MB. */
export const ALERT_POSTS = { all: 512, ofOne: 16 } as const;

/** Share of one account of the calls that wait (specification section 11). */
const WAITING_SHARE = 8;

export interface PoolOptions {
  /** Calls that may wait for room in limits of calls. */
  readonly waitingCalls: number;
  readonly memory: MemoryBudget;
}

/**
 * Every resource of the process that accounts share, with its bounds. `docs/guarantees.md` has the table of what each
 * of them takes.
 */
export function poolBounds({ waitingCalls, memory }: PoolOptions) {
  const { callBytes, heldBytes, unreadCalls, scale } = memory;
  const mib = (all: number, ofOne: number) => ({ all: all * MIB * scale, ofOne: ofOne * MIB * scale });
  return {
    /** Model calls with their bodies, from its first byte until they are settled and their answer is sent. */
    calls: { bytes: { all: callBytes, ofOne: callBytes / 2 } },
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
    /** Exports and whole lists that are being sent; each keeps a page of the book. */
    exports: { places: { all: 64, ofOne: 8 } },
    /** Other answers of `/api/` over 64 KiB, until they are sent. */
    answers: { bytes: mib(32, 8) },
    /** Requests of owners to `/api/` that have a body or change something, and the bodies. */
    writes: { places: { all: 512, ofOne: 16 }, bytes: mib(64, 16) },
    /** Their transactions in the book. */
    transactions: { places: { all: 8, ofOne: 1 } },
    alerts: { places: ALERT_POSTS },
  } satisfies Record<string, PoolBounds>;
}

export type PoolName = keyof ReturnType<typeof poolBounds>;
export type Pools = Readonly<Record<PoolName, FairPool>>;

/** Makes the pools of a process. */
export function makePools(options: PoolOptions): Pools {
  const bounds: Readonly<Record<PoolName, PoolBounds>> = poolBounds(options);
  const pools = Object.entries(bounds).map(([name, bound]) => [name, new FairPool(bound)] as const);
  return Object.fromEntries(pools) as Record<PoolName, FairPool>;
}
