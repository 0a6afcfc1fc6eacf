import { micro } from '../domain/credits.ts';
import type { Book } from './book.ts';
import type { Store } from './store.ts';

/** Accounts of a page: few, so that one statement sums few ledgers, and memory does not grow with the number of accounts. */
const PAGE = 50;

export function reconcileQueries({ db }: Store): Pick<Book, 'reconcile'> {
  /** Reads a page in one statement, which sees one moment of the book: a running gateway changes nothing in between. */
  const page = (after: number) =>
    db
      .selectFrom('accounts')
      .select(['accounts.id', 'email', 'balance'])
      .select((eb) => [
        eb
          .selectFrom('ledger')
          .whereRef('ledger.account_id', '=', 'accounts.id')
          .select(({ fn }) => fn.sum<number | null>('ledger.credits').as('sum'))
          .as('ledger_sum'),
        eb
          .selectFrom('ledger')
          .whereRef('ledger.account_id', '=', 'accounts.id')
          .select('ledger.balance_after')
          .orderBy('ledger.seq', 'desc')
          .limit(1)
          .as('last_balance_after'),
      ])
      .where('accounts.id', '>', after)
      .orderBy('accounts.id')
      .limit(PAGE)
      .execute();

  return {
    async *reconcile() {
      let rows = await page(0);
      while (rows.length > 0) {
        for (const row of rows) {
          yield {
            accountId: row.id,
            email: row.email,
            balance: micro(row.balance),
            ledgerSum: micro(row.ledger_sum ?? 0),
            lastBalanceAfter: row.last_balance_after === null ? null : micro(row.last_balance_after),
          };
        }
        rows = await page(rows.at(-1)?.id ?? 0);
      }
    },
  };
}
