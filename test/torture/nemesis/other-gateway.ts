import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { AlertWorker } from '../../../src/alerts/alert-worker.ts';
import type { Book } from '../../../src/book/book.ts';
import { openBook } from '../../../src/book/open-book.ts';
import { parseRedisUrl } from '../../../src/config/redis-url.ts';
import { periodStarts } from '../../../src/domain/period.ts';
import { type OpenLedger, openLedger } from '../../../src/ledger/open-ledger.ts';
import { FairPool } from '../../../src/shares/fair-pool.ts';
import { pick } from '../driver/calls.ts';
import type { History } from '../driver/history.ts';
import { bookOf, type World } from '../world/world.ts';

const POLL_MS = 4;
const STOP_MS = 5_000;

/**
 * Runs the alert worker of another gateway until everything is healed. It polls for alerts constantly, and claims them
 * `lateMs` later. Does nothing with a SQLite book, which only one gateway can use.
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

/**
 * Opens a ledger in the driver's process, like another gateway, whose connections bypass the wires and their faults.
 */
export function openLedgerOf({ redis }: World, book: Book): Promise<OpenLedger> {
  return openLedger({
    address: parseRedisUrl(redis.url),
    book,
    log: pino({ level: 'silent' }),
    requestTimeoutMs: 1,
    onAlerts() {},
  });
}

/**
 * Runs the sweep of another gateway, as each gateway does every 15 s. It must release nothing, because no hold of a
 * history is due yet. Does nothing with a SQLite book, which only one gateway can use.
 */
export async function sweepNow(history: History): Promise<void> {
  const { world, isRedisUp, isBookUp } = history;
  if (!world.book || !isRedisUp || !isBookUp) return;
  // Redis or the book may be away by now; then there is no sweep.
  const book = await openBook(bookOf(world)).catch(() => undefined);
  const open = book && (await openLedgerOf(world, book).catch(() => undefined));
  await open?.sweep.expireHolds(Date.now()).catch(() => {});
  open?.abandon();
  await book?.close();
}

/**
 * Acts as a gateway that froze during a rebuild for longer than its lease, was overtaken by another rebuild, and only
 * now gets a new epoch from the book. The book then has an epoch that Redis lacks, and journal entries belong to an
 * older one. Does nothing with a SQLite book, which only one gateway can use.
 */
export async function overtakeRebuild(history: History, plan: { readonly account: number }): Promise<void> {
  const { model, world, isBookUp, summary } = history;
  if (!world.book || !isBookUp) return;
  const account = pick(model.accounts, plan.account);
  if (!account) return;
  // The book may be away by now; then there is nothing to do.
  const book = await openBook(bookOf(world)).catch(() => undefined);
  const taken = await book?.snapshot(account.id, periodStarts(Date.now())).catch(() => undefined);
  await book?.close();
  if (!taken) return;
  summary.fault('rebuild overtaken');
}
