import { sql } from 'kysely';
import { accountQueries } from './accounts.ts';
import { alertQueries } from './alerts.ts';
import type { Book } from './book.ts';
import { grantQueries } from './grants.ts';
import { keyQueries } from './keys.ts';
import { lastCallQueries } from './last-calls.ts';
import { postQueries } from './post.ts';
import { publicationQueries } from './publication.ts';
import { ledgerQueries } from './read-ledger.ts';
import { reconcileQueries } from './reconcile.ts';
import { resourceQueries } from './resources.ts';
import { rotationQueries } from './rotation.ts';
import { snapshotQueries } from './snapshot.ts';
import type { Store } from './store.ts';
import { usageQueries } from './usage.ts';
import { usageOfAllQueries } from './usage-of-all.ts';

/** The book over a database whose schema is current. It owns the store from here on: `close` closes it. */
export async function sqlBook(store: Store): Promise<Book> {
  const { id } = await store.db.selectFrom('identity').select('id').executeTakeFirstOrThrow();
  return {
    id,
    async ping() {
      await sql`select 1`.execute(store.db);
    },
    close: () => store.db.destroy(),
    ...accountQueries(store),
    ...keyQueries(store),
    ...rotationQueries(store),
    ...publicationQueries(store),
    ...grantQueries(store),
    ...postQueries(store),
    ...snapshotQueries(store),
    ...ledgerQueries(store),
    ...lastCallQueries(store),
    ...usageQueries(store),
    ...usageOfAllQueries(store),
    ...alertQueries(store),
    ...resourceQueries(store),
    ...reconcileQueries(store),
  };
}
