import { openBook } from '../../src/book/open-book.ts';
import type { History } from './history.ts';
import { openLedgerOf } from './open-ledger-of.ts';
import { bookOf } from './world.ts';

/**
 * Another gateway looks for holds to release, which each does every 15 s: no hold of a history is due yet. Not with a book
 * in a file, which one gateway has to itself.
 */
export async function sweepNow(history: History): Promise<void> {
  const { world, isRedisUp, isBookUp } = history;
  if (!world.book || !isRedisUp || !isBookUp) return;
  // Either may go away meanwhile: then there is no sweep.
  const book = await openBook(bookOf(world)).catch(() => undefined);
  const open = book && (await openLedgerOf(world, book).catch(() => undefined));
  await open?.sweep.expireHolds(Date.now()).catch(() => {});
  open?.abandon();
  await book?.close();
}
