import { openBook } from '../../src/book/open-book.ts';
import type { History } from './history.ts';
import { openLedgerOf } from './open-ledger-of.ts';
import { bookOf } from './world.ts';

/**
 * Runs the sweep of another gateway, which each gateway does every 15 s. It must release nothing, because no hold of a
 * history is due yet. Does nothing with a SQLite book, which one gateway has to itself.
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
