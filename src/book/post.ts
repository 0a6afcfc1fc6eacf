import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import { entryRow, idsInLedger, LEDGER_COLUMNS } from './ledger.ts';
import { chunks, insertRows, updateRows } from './many-rows.ts';
import { recordResources } from './resources.ts';
import { hourOf } from './snapshot.ts';
import { addSpendDays } from './spend-days.ts';
import type { Store, Trx } from './store.ts';

/** Outcome of offering a journal entry to the book. */
export type PostResult =
  /** The entry was written now. */
  | 'posted'
  /** An entry with this id was written before. */
  | 'duplicate'
  /** The book has no such account, or its balance no room for the entry (2^53 micro-credits). It may have room later. */
  | 'refused';

/** An account whose live state may differ from the book: it must be rebuilt in a later epoch than this. */
export interface DivergedAccount {
  readonly accountId: number;
  readonly epoch: number;
}

interface Posting {
  /** Results in the order of the entries that were offered. */
  readonly results: readonly PostResult[];
  /**
   * Accounts with an entry of another epoch than the book's, or one that Redis counted twice, or gave another seq or balance
   * than the book does. Their epoch in the book is over with this posting, so that they are found if nobody rebuilds them.
   */
  readonly diverged: readonly DivergedAccount[];
  /** Number of alerts that crossings queued. */
  readonly alerts: number;
}

/** The part of the book that takes journal entries. */
export interface BookPosting {
  /**
   * Posts journal entries to the ledger in one transaction, with balances, sums of days, alerts of crossings and the state
   * of grants. Entries come in journal order. Safe to repeat.
   */
  post(entries: readonly JournalEntry[]): Promise<Posting>;
  /** The ids among these that the ledger has. */
  entriesAmong(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** The end of an account's ledger; entries of a batch move it on. */
interface LedgerPosition {
  seq: number;
  epoch: number;
  balance: number;
  lastEntryAt: number;
}

interface Plan {
  readonly results: PostResult[];
  /** Entries that the ledger's end and Redis agree on: the usual case. */
  readonly following: ReadonlySet<JournalEntry>;
  /** The new entries, as the book numbers them. */
  readonly posted: JournalEntry[];
  /** Epochs that are over, by account. */
  readonly diverged: ReadonlyMap<number, number>;
  /** Ends of the accounts' ledgers after the batch. */
  readonly positions: ReadonlyMap<number, LedgerPosition>;
}

/** Thrown if the id of an entry that looked new is in the ledger. */
class IdTaken extends Error {}

/**
 * Posts journal entries to the ledger, which takes each id once and numbers new ones: any gateway may offer any entry, as
 * often as it likes. The rows of the accounts are locked first, by id ascending, which is the fixed lock order of the book:
 * two gateways that offer the same batch come one after the other, and the second finds every entry written.
 */
export function postQueries(store: Store): BookPosting {
  return {
    async post(entries) {
      if (entries.length === 0) return { results: [], diverged: [], alerts: 0 };
      try {
        return await post(store, entries, false);
      } catch (error) {
        if (!(error instanceof IdTaken)) throw error;
        return await post(store, entries, true);
      }
    },

    entriesAmong: (ids) => idsInLedger(store.db, ids),
  };
}

/**
 * An entry that Redis counted as the book does is taken to be new, which saves looking every id up; if that is wrong, the
 * ledger's unique id says so, nothing is written, and the batch is planned again with its ids looked up (`careful`).
 */
async function post(store: Store, entries: readonly JournalEntry[], careful: boolean): Promise<Posting> {
  return store.transaction(async (trx) => {
    const positions = await lockAccounts(store, trx, entries);
    const first = planPosting(entries, positions, new Set());
    const doubtful = careful ? entries : entries.filter((entry) => !first.following.has(entry));
    const ids = doubtful.map(({ id }) => id);
    const plan = ids.length > 0 ? planPosting(entries, positions, await idsInLedger(trx, ids)) : first;
    await write(store, trx, plan);
    return {
      results: plan.results,
      diverged: [...plan.diverged].map(([accountId, epoch]) => ({ accountId, epoch })),
      alerts: plan.posted.filter(isCrossing).length,
    };
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

/** Decides entry by entry, in journal order, from the ends of the ledgers on. `known`: ids that the ledger has. */
function planPosting(
  entries: readonly JournalEntry[],
  start: ReadonlyMap<number, LedgerPosition>,
  known: ReadonlySet<string>,
): Plan {
  const positions = new Map([...start].map(([id, position]) => [id, { ...position }]));
  const written = new Set(known);
  const following = new Set<JournalEntry>();
  const posted: JournalEntry[] = [];
  const diverged = new Map<number, number>();
  const results = entries.map((entry): PostResult => {
    const position = positions.get(entry.accountId);
    if (!position) return 'refused';
    const isCurrent = entry.epoch === position.epoch;
    if (written.has(entry.id)) {
      // A known id keeps the seq that it was posted with. This one stands
      // beyond: Redis has counted it twice.
      if (isCurrent && entry.seq > position.seq) diverged.set(entry.accountId, position.epoch);
      return 'duplicate';
    }
    const balance = position.balance + entry.credits;
    if (!Number.isSafeInteger(balance)) {
      if (isCurrent) diverged.set(entry.accountId, position.epoch);
      return 'refused';
    }
    const follows = isCurrent && entry.seq === position.seq + 1 && entry.balanceAfter === balance;
    if (follows) following.add(entry);
    else diverged.set(entry.accountId, position.epoch);
    posted.push(follows ? entry : numbered(entry, position));
    written.add(entry.id);
    position.seq++;
    position.balance = balance;
    position.lastEntryAt = Math.max(position.lastEntryAt, entry.createdAt);
    return 'posted';
  });
  for (const [id, epoch] of diverged) (positions.get(id) as LedgerPosition).epoch = epoch + 1;
  return { results, following, posted, diverged, positions };
}

/** The entry after the end of a ledger. */
function numbered(entry: JournalEntry, { seq, balance }: LedgerPosition): JournalEntry {
  return { ...entry, seq: seq + 1, balanceAfter: micro(balance + entry.credits) };
}

/** Whether an entry, as the book numbers it, takes the balance from the threshold or more to below it. */
function isCrossing({ credits, balanceAfter, threshold }: JournalEntry): boolean {
  return credits < 0 && balanceAfter - credits >= threshold && balanceAfter < threshold;
}

async function write(store: Store, trx: Trx, { posted, positions, diverged }: Plan): Promise<void> {
  const rows = posted.map(entryRow);
  const written = await insertRows(store, trx, 'ledger', LEDGER_COLUMNS, rows, 'on conflict (id) do nothing');
  if (written !== posted.length) throw new IdTaken();
  await store.inOrder([
    () =>
      moveAccounts(store, trx, positions, [...posted.map(({ accountId }) => accountId), ...diverged.keys()]),
    () => addSpendDays(store, trx, posted),
    () => queueAlerts(trx, posted),
    () => finishGrants(store, trx, posted),
    () => recordResources(trx, posted),
  ]);
}

async function moveAccounts(
  store: Store,
  trx: Trx,
  positions: ReadonlyMap<number, LedgerPosition>,
  accountIds: readonly number[],
): Promise<void> {
  const rows = [...new Set(accountIds)].map((id) => {
    const { seq, epoch, balance, lastEntryAt } = positions.get(id) as LedgerPosition;
    return {
      id,
      seq,
      epoch,
      balance,
      last_entry_at: lastEntryAt,
      last_entry_hour: hourOf(lastEntryAt),
    };
  });
  const columns = ['seq', 'epoch', 'balance', 'last_entry_at', 'last_entry_hour'] as const;
  await updateRows(store, trx, 'accounts', 'id', columns, rows);
}

async function queueAlerts(trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  for (const chunk of chunks(posted.filter(isCrossing))) {
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
