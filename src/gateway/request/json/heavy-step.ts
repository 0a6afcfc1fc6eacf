import { setImmediate } from 'node:timers/promises';

/** Runs a step of work that blocks the event loop for some 10 ms, in a turn of its own: other calls run in between. */
export async function inOwnTurn<T>(work: () => T): Promise<T> {
  await setImmediate();
  return work();
}
