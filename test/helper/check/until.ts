import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;
/** Time after which a wait names its event on stderr, and once more each time it has passed again. */
const LONG_MS = 60_000;

/**
 * Polls until the answer is neither undefined nor false, and resolves with it. For events in another process, which a
 * test can't listen to. The limit of the test process ends a wait for an event that never comes. Rejects after
 * `deadlineMs`, which is only for events that must come within a promised time.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  deadlineMs = Number.POSITIVE_INFINITY,
): Promise<Exclude<T, undefined | false>> {
  const startedAt = Date.now();
  let longMs = LONG_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
    if (waitedMs > longMs) {
      process.stderr.write(`waiting for ${what} for ${Math.round(waitedMs / 1_000)} s\n`);
      longMs = waitedMs + LONG_MS;
    }
    await sleep(POLL_MS);
  }
}

/**
 * Repeats a call that gets 503, as on a machine so loaded that Redis or the book answers late. Resolves with the first
 * other answer. Use it only if a refused call costs and changes nothing, and the test is about something else.
 */
export function untilServed<Answer extends { readonly status: number }>(
  what: string,
  send: () => Promise<Answer>,
): Promise<Answer> {
  return until(`${what} to be served`, async () => {
    const answer = await send();
    if (answer.status !== 503) return answer;
    if (answer instanceof Response && !answer.bodyUsed) await answer.arrayBuffer();
    return undefined;
  }) as Promise<Answer>;
}

const DAY_MS = 86_400_000;

/** Longer than a test of sums by day takes, on a loaded machine too. */
const DAY_LEFT_MS = 180_000;

/**
 * Resolves when the UTC day lasts another three minutes, for tests of sums by day, week or month that midnight would
 * split.
 */
export async function dayThatLasts(): Promise<void> {
  for (;;) {
    const leftMs = DAY_MS - (Date.now() % DAY_MS);
    if (leftMs > DAY_LEFT_MS) return;
    await sleep(leftMs);
  }
}
