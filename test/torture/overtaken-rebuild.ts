import { openBook } from '../../src/book/open-book.ts';
import { periodStarts } from '../../src/domain/period.ts';
import { pick } from './calls.ts';
import type { History } from './history.ts';
import { bookOf } from './world.ts';

/**
 * Acts as a gateway that stood still in the middle of a rebuild for longer than its lease, was overtaken by another
 * rebuild, and only now asks the book for a new epoch. The book then has an epoch that Redis lacks, and journalled
 * entries belong to an older one. Does nothing with a SQLite book, which one gateway has to itself.
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
