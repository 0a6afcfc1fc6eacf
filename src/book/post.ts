import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import type { Book, Posting, PostResult } from './book.ts';
import { chunks } from './bulk-values.ts';
import { entryRow, LEDGER_COLUMNS } from './ledger-row.ts';
import { insertRows, updateRows } from './many-rows.ts';
import { recordResources } from './resources.ts';
import { hourOf } from './snapshot.ts';
import { addSpendDays } from './spend-days.ts';
import type { Store, Trx } from './store.ts';

/** The end of an account's ledger; entries of a batch move it on. */
interface LedgerPosition {
  seq: number;
  readonly epoch: number;
  balance: number;
  lastEntryAt: number;
}

interface Plan {
  readonly results: PostResult[];
  readonly gaps: Set<number>;
  readonly posted: JournalEntry[];
  /** Ends of the accounts' ledgers after the batch. */
  readonly positions: ReadonlyMap<number, LedgerPosition>;
}

/** Thrown where the id of an entry that looked new is in the ledger. */
class IdTaken extends Error {}

/**
 * Posts journal entries to the ledger. The rows of the accounts are locked first, by id ascending, which is the fixed lock order of the
 * book: two gateways that offer the same batch come one after the other, and the second finds every entry written.
 */
export function postQueries(store: Store): Pick<Book, 'post' | 'entriesAmong'> {
  return {
    async post(entries) {
      if (entries.length === 0) return { results: [], gaps: [], alerts: 0 };
      try {
        return await post(store, entries, false);
      } catch (error) {
        if (!(error instanceof IdTaken)) throw error;
        return await post(store, entries, true);
      }
    },

    async entriesAmong(ids) {
      const found = new Set<string>();
      for (const chunk of chunks(ids)) {
        const rows = await store.db.selectFrom('ledger').select('id').where('id', 'in', chunk).execute();
        for (const { id } of rows) found.add(id);
      }
      return found;
    },
  };
}

/**
 * An entry that continues its account is taken to be new, which saves looking every id up; where that is wrong, the ledger's
 * unique id says so, nothing is written, and the batch is planned again with its ids looked up (`careful`).
 */
async function post(store: Store, entries: readonly JournalEntry[], careful: boolean): Promise<Posting> {
  return store.transaction(async (trx) => {
    const positions = await lockAccounts(store, trx, entries);
    const first = planPosting(entries, positions, new Set());
    const doubtful = careful ? entries : entries.filter((_, index) => first.results[index] !== 'posted');
    const plan =
      doubtful.length > 0 ? planPosting(entries, positions, await writtenBefore(trx, doubtful)) : first;
    await write(store, trx, plan);
    const alerts = plan.posted.filter((entry) => entry.crossing).length;
    return { results: plan.results, gaps: [...plan.gaps], alerts };
  });
}

async function lockAccounts(
  store: Store,
  trx: Trx,
  entries: readonly JournalEntry[],
): Promise<Map<number, LedgerPosition>> {
  const ids = [...new Set(entries.map((entry) => entry.accountId))];
  const positions = new Map<number, LedgerPosition>();
  for (const chunk of chunks(ids.sort((a, b) => a - b))) {
    const query = trx
      .selectFrom('accounts')
      .select(['id', 'seq', 'epoch', 'balance', 'last_entry_at'])
      .where('id', 'in', chunk)
      .orderBy('id');
    for (const row of await store.lock(query).execute()) {
      const { seq, epoch, balance, last_entry_at } = row;
      positions.set(row.id, { seq, epoch, balance, lastEntryAt: last_entry_at ?? 0 });
    }
  }
  return positions;
}

async function writtenBefore(trx: Trx, entries: readonly JournalEntry[]): Promise<Set<string>> {
  const written = new Set<string>();
  for (const chunk of chunks(entries.map((entry) => entry.id))) {
    const rows = await trx.selectFrom('ledger').select('id').where('id', 'in', chunk).execute();
    for (const row of rows) written.add(row.id);
  }
  return written;
}

/** Decides entry by entry, in journal order, from the ends of the ledgers on; adds the ids that are posted to `written`. */
function planPosting(
  entries: readonly JournalEntry[],
  start: ReadonlyMap<number, LedgerPosition>,
  written: Set<string>,
): Plan {
  const positions = new Map([...start].map(([id, position]) => [id, { ...position }]));
  const plan: Plan = { results: [], gaps: new Set(), posted: [], positions };
  for (const entry of entries) {
    const position = positions.get(entry.accountId);
    const result = verdict(entry, position, written);
    plan.results.push(result);
    if (result !== 'posted' || !position) continue;
    if (entry.seq > position.seq + 1) plan.gaps.add(entry.accountId);
    position.seq = entry.seq;
    position.balance = micro(position.balance + entry.credits);
    position.lastEntryAt = Math.max(position.lastEntryAt, entry.createdAt);
    written.add(entry.id);
    plan.posted.push(entry);
  }
  return plan;
}

/** An entry of an account that the book does not know, because it was restored from a backup, continues nothing. */
function verdict(
  entry: JournalEntry,
  position: LedgerPosition | undefined,
  written: ReadonlySet<string>,
): PostResult {
  if (written.has(entry.id)) return 'duplicate';
  return isNext(entry, position) ? 'posted' : 'superseded';
}

/**
 * Whether an entry continues the account's ledger. Its balance must follow too: where Redis was set back by a moment, or
 * applied a charge again that the book has, entries of one epoch belong to two histories, which seqs alone would mix.
 */
function isNext(entry: JournalEntry, position: LedgerPosition | undefined): boolean {
  return (
    position !== undefined &&
    entry.epoch === position.epoch &&
    entry.seq > position.seq &&
    Number.isSafeInteger(entry.balanceAfter) &&
    entry.balanceAfter === position.balance + entry.credits
  );
}

async function write(store: Store, trx: Trx, { posted, positions }: Plan): Promise<void> {
  const rows = posted.map(entryRow);
  const written = await insertRows(store, trx, 'ledger', LEDGER_COLUMNS, rows, 'on conflict (id) do nothing');
  if (written !== posted.length) throw new IdTaken();
  await store.inOrder([
    () => moveAccounts(store, trx, posted, positions),
    () => addSpendDays(store, trx, posted),
    () => queueAlerts(trx, posted),
    () => finishGrants(store, trx, posted),
    () => recordResources(trx, posted),
  ]);
}

async function moveAccounts(
  store: Store,
  trx: Trx,
  posted: readonly JournalEntry[],
  positions: ReadonlyMap<number, LedgerPosition>,
): Promise<void> {
  const moved = new Set(posted.map((entry) => entry.accountId));
  const rows = [...positions]
    .filter(([id]) => moved.has(id))
    .map(([id, { seq, balance, lastEntryAt }]) => ({
      id,
      seq,
      balance,
      last_entry_at: lastEntryAt,
      last_entry_hour: hourOf(lastEntryAt),
    }));
  const columns = ['seq', 'balance', 'last_entry_at', 'last_entry_hour'] as const;
  await updateRows(store, trx, 'accounts', 'id', columns, rows);
}

async function queueAlerts(trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  for (const chunk of chunks(posted.filter((entry) => entry.crossing))) {
    const rows = chunk.map((entry) => ({
      account_id: entry.accountId,
      entry_id: entry.id,
      created_at: entry.createdAt,
      credits_balance: entry.balanceAfter,
      test: 0,
      state: 'queued' as const,
      claimed_at: null,
    }));
    await trx.insertInto('alerts').values(rows).execute();
  }
}

async function finishGrants(store: Store, trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const rows = posted
    .filter((entry) => entry.type === 'top_up' || entry.type === 'adjustment')
    .map((entry) => ({ id: entry.id, state: 'posted', balance_after: entry.balanceAfter }));
  await updateRows(store, trx, 'grants', 'id', ['state', 'balance_after'], rows);
}
