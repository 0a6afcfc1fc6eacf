import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Polls until the answer is neither undefined nor false, and resolves with it. For events in another process, which a
 * test can't listen to. Rejects after `deadlineMs` with an error that names the event. The deadline is for events that
 * never happen, not for those that a loaded machine delays.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  deadlineMs = 180_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer as Exclude<T, undefined | false>;
    if (Date.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`);
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
