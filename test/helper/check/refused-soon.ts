import type { Test } from 'tap';

/** Where the connection to Redis is gone. */
const WITHIN_MS = 1_500;
/** Where it stands, and nothing comes back. */
export const SILENT_WITHIN_MS = 8_000;
/** What a machine under load adds to an answer is not the gateway's: it may take several times until one is in time. */
const TRIES = 10;

/**
 * Makes the calls at once, and checks that each is 503 with `error` in its body, and that the quickest is answered
 * within the time that docs/guarantees.md promises.
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
