import { pino } from 'pino';
import type { Test } from 'tap';
import { type BookPlace, openBook } from '../../../src/book/open-book.ts';
import { openLedger } from '../../../src/ledger/open-ledger.ts';
import { REDIS_TIMEOUT_MS } from './redis-process.ts';

/** Releases every hold, like the sweep after its deadline. Resolves when the book has the entries. */
export async function expireHolds(t: Test, place: BookPlace, redisUrl: string): Promise<void> {
  const book = await openBook(place);
  const open = await openLedger({
    address: { kind: 'single', url: redisUrl },
    book,
    log: pino({ level: 'silent' }),
    requestTimeoutMs: 1,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    onAlerts() {},
  });
  t.teardown(async () => {
    await open.close(1_000);
    await book.close();
  });
  await open.sweep.expireHolds(Date.now() + 3_600_000);
  await open.settled();
}
