import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { AlertWorker } from '../../src/alerts/alert-worker.ts';
import { openBook } from '../../src/book/open-book.ts';
import { FairPool } from '../../src/shares/fair-pool.ts';
import type { History } from './history.ts';
import { bookOf } from './world.ts';

const POLL_MS = 4;
const STOP_MS = 5_000;

/**
 * Runs the alert worker of another gateway until everything is healed. It looks for alerts all the time, and claims
 * what it saw only `lateMs` later. Does nothing with a SQLite book, which one gateway has to itself.
 */
export async function concurrentAlertWorker(
  history: History,
  { lateMs }: { readonly lateMs: number },
): Promise<void> {
  const { world, isBookUp } = history;
  if (!world.book || !isBookUp) return;
  const book = await openBook(bookOf(world)).catch(() => undefined);
  if (!book) return;
  const worker = new AlertWorker({
    book: {
      async dueAlerts(except, limit) {
        const seen = await book.dueAlerts(except, limit);
        if (seen.length > 0) await sleep(lateMs);
        return seen;
      },
      claimAlert: (id, now) => book.claimAlert(id, now),
      plannedDeliveries: (id, after) => book.plannedDeliveries(id, after),
      finishDelivery: (id, outcome) => book.finishDelivery(id, outcome),
    },
    timeoutMs: 2_000,
    allowPrivateNetworks: true,
    log: pino({ level: 'silent' }),
    permits: new FairPool({ places: { all: 4, ofOne: 2 } }),
    pollMs: POLL_MS,
  });
  worker.start();
  history.onHealed(async () => {
    await worker.stop(STOP_MS);
    await book.close();
  });
}
