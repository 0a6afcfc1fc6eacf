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
