import type { Kysely } from 'kysely';
import { chunks } from './bulk-values.ts';
import type { BookSchema } from './schema.ts';

/** The ids among these that the ledger has. */
export async function idsInLedger(db: Kysely<BookSchema>, ids: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const chunk of chunks(ids)) {
    const rows = await db.selectFrom('ledger').select('id').where('id', 'in', chunk).execute();
    for (const { id } of rows) found.add(id);
  }
  return found;
}
