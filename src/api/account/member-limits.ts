import type { BookKeys } from '../../book/keys.ts';
import { NO_WINDOWS, type SpendingLimit } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type LimitView, limitViews } from '../keys/limit-view.ts';

/** A membership's person, and its spending limits. */
interface LimitedMember {
  readonly personId: number;
  readonly spendingLimits: readonly SpendingLimit[];
}

/**
 * Spending limits of members of an account, with what is left of each, in the given order. Rejects with LedgerUnavailable
 * or BookUnavailable.
 */
export async function memberLimits(
  { book, ledger }: { readonly book: Pick<BookKeys, 'keyCounts'>; readonly ledger: Ledger },
  accountId: number,
  members: readonly LimitedMember[],
): Promise<LimitView[][]> {
  const limited = members.filter(({ spendingLimits }) => spendingLimits.length > 0);
  const ids = limited.map(({ personId }) => personId);
  // Redis knows only people with keys; others have spent nothing.
  const withKeys = ids.length > 0 ? [...(await book.keyCounts(accountId, ids)).keys()] : [];
  const windows = await ledger.windows(
    accountId,
    withKeys.map((personId) => ({ personId })),
  );
  const spent = new Map(withKeys.map((personId, index) => [personId, windows[index]]));
  const now = ledger.now(accountId);
  return members.map(({ personId, spendingLimits }) =>
    limitViews('member', spendingLimits, spent.get(personId) ?? NO_WINDOWS, now),
  );
}
