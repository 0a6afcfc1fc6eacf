import { setImmediate, setTimeout } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();
let notBeforeMs = 0;

/**
 * Runs a step of work that blocks the event loop for some 10 ms. Such steps run one at a time in the process, in the
 * order of asking, and after each one the loop is left to other work for as long as the step took. Resolves with what
 * `work` returns, or rejects with what it throws.
 */
export function heavyStep<T>(work: () => T): Promise<T> {
  const step = last.then(async () => {
    const restMs = notBeforeMs - performance.now();
    await (restMs > 1 ? setTimeout(restMs) : setImmediate());
    const startedAt = performance.now();
    try {
      return { result: work() };
    } finally {
      const endedAt = performance.now();
      notBeforeMs = endedAt + (endedAt - startedAt);
    }
  });
  last = step.then(
    () => {},
    () => {},
  );
  return step.then(({ result }) => result);
}
