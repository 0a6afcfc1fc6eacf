import { setTimeout as sleep } from 'node:timers/promises';

export interface PacedLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Makes the call with this number, from 0. Resolves when its answer is complete. */
  readonly send: (index: number) => Promise<void>;
}

/**
 * Makes calls at a fixed pace, however long the answers take. Resolves with the milliseconds from the due time of each
 * call to the end of its answer, ascending. That includes the wait for earlier slow calls, which a load generator that
 * waits itself would hide (coordinated omission). Rejects with the first failed call.
 */
export async function pacedLoad({ perSecond, seconds, send }: PacedLoad): Promise<number[]> {
  const amount = Math.round(perSecond * seconds);
  const startedAt = performance.now();
  const answerMs: number[] = [];
  const open = new Set<Promise<void>>();
  let failure: unknown;
  for (let next = 0; next < amount && failure === undefined; ) {
    const due = Math.min(amount, 1 + Math.floor(((performance.now() - startedAt) * perSecond) / 1_000));
    for (; next < due; next++) {
      const dueAt = startedAt + (next * 1_000) / perSecond;
      const call: Promise<void> = send(next).then(
        () => void answerMs.push(performance.now() - dueAt),
        (error: unknown) => {
          failure ??= error;
        },
      );
      open.add(call);
      void call.then(() => open.delete(call));
    }
    await sleep(1);
  }
  await Promise.all(open);
  if (failure !== undefined) throw failure;
  return answerMs.sort((a, b) => a - b);
}
