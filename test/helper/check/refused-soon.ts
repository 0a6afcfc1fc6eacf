import type { Test } from 'tap';

/** Limit if the connection to Redis is gone. */
const WITHIN_MS = 1_500;
/** Limit if the connection is open but Redis does not answer. */
export const SILENT_WITHIN_MS = 8_000;
/** A machine under load adds time of its own, so the calls are repeated until one is fast enough. */
const TRIES = 10;

/**
 * Makes the calls concurrently. Checks that each gets 503 with `error` in its body, and the fastest within the time
 * that docs/guarantees.md promises.
 */
export async function refusedSoon(
  t: Test,
  calls: readonly (() => Promise<Response>)[],
  error: object,
  withinMs = WITHIN_MS,
): Promise<void> {
  let quickestMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && quickestMs >= withinMs; tries++) {
    const startedAt = performance.now();
    const timed = async (call: () => Promise<Response>) => {
      const answer = await call();
      quickestMs = Math.min(quickestMs, performance.now() - startedAt);
      return answer;
    };
    for (const answer of await Promise.all(calls.map(timed))) {
      t.equal(answer.status, 503);
      t.match(answer.headers.get('retry-after'), /^\d+$/);
      t.match(await answer.json(), error);
    }
  }
  t.ok(quickestMs < withinMs, `answered within ${Math.round(quickestMs)} ms`);
}
