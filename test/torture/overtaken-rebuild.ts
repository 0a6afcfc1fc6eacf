import { openBook } from '../../src/book/open-book.ts';
import { periodStarts } from '../../src/domain/period.ts';
import { pick } from './calls.ts';
import type { History } from './history.ts';
import { bookOf } from './world.ts';

/**
 * A gateway stood still amid a rebuild for longer than its lease, was overtaken, and asks the book only now: the account
 * has an epoch that Redis does not have, and what is journalled belongs to one that is over. Not with a book in a file,
 * which one gateway has to itself.
 */
export async function overtakeRebuild(history: History, plan: { readonly account: number }): Promise<void> {
  const { model, world, isBookUp, summary } = history;
  if (!world.book || !isBookUp) return;
  const account = pick(model.accounts, plan.account);
  if (!account) return;
  // It may go away meanwhile: then nothing was asked.
  const book = await openBook(bookOf(world)).catch(() => undefined);
  const taken = await book?.snapshot(account.id, periodStarts(Date.now())).catch(() => undefined);
  await book?.close();
  if (!taken) return;
  summary.fault('rebuild overtaken');
}
