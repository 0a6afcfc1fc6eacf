import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

/**
 * Polls until the answer is neither undefined nor false, and resolves with it. It is for events in another process,
 * which cannot be listened to. Rejects after `deadlineMs` with an error that names what was waited for: a bound for what
 * never comes, and not for what a loaded machine makes late.
 */
export async function until<T>(
  what: string,
  ask: () => T | Promise<T>,
  deadlineMs = 60_000,
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
 * Sends again while the answer is 503, as it is on a machine so loaded that Redis or the book answers too late. Resolves
 * with the first other answer. For calls whose refusal costs nothing and changes nothing, in tests of other things.
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

/**
 * Resolves within a UTC day that lasts for another minute: for tests of sums by day, week or month, which midnight
 * would divide.
 */
export async function dayThatLasts(): Promise<void> {
  for (;;) {
    const leftMs = DAY_MS - (Date.now() % DAY_MS);
    if (leftMs > 60_000) return;
    await sleep(leftMs);
  }
}
