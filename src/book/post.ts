import { micro } from '../domain/credits.ts';
import type { JournalEntry } from '../domain/ledger-entry.ts';
import { addFiveHours } from './five-hours.ts';
import { entryRow, idsInLedger } from './ledger.ts';
import { chunks, insertRows, updateRows } from './many-rows.ts';
import { recordResources } from './resources.ts';
import { hourOf } from './snapshot.ts';
import { addSpendDays } from './spend-days.ts';
import type { Store, Trx } from './store.ts';

/** Outcome of posting a journal entry. */
export type PostResult =
  /** Written now. */
  | 'posted'
  /** An entry with this id already exists. */
  | 'duplicate'
  /** The book has no such account, or its balance can't take the entry (2^53 micro-credits), though it may later. */
  | 'refused';

/** An account whose live state may differ from the book. It must be rebuilt in a later epoch. */
export interface DivergedAccount {
  readonly accountId: number;
  readonly epoch: number;
}

interface Posting {
  /** In the order of the entries. */
  readonly results: readonly PostResult[];
  /**
   * Accounts with an entry of another epoch than the book's, an entry that Redis counted twice, or one whose seq or
   * balance differs between Redis and the book. Posting ends their epoch in the book, so they are found even without a
   * rebuild.
   */
  readonly diverged: readonly DivergedAccount[];
  /** Number of alerts queued by crossings. */
  readonly alerts: number;
}

/** Posts journal entries. */
export interface BookPosting {
  /**
   * Posts journal entries, in journal order, to the ledger in one transaction with balances, daily sums, crossing
   * alerts and grant states. Idempotent.
   */
  post(entries: readonly JournalEntry[]): Promise<Posting>;
  /** Returns those of the ids that the ledger has. */
  entriesAmong(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

/** End of an account's ledger, which advances with each entry of a batch. */
interface LedgerPosition {
  seq: number;
  epoch: number;
  balance: number;
  lastEntryAt: number;
}

interface Plan {
  readonly results: PostResult[];
  /** Entries on which the end of the ledger and Redis agree: the usual case. */
  readonly following: ReadonlySet<JournalEntry>;
  /** New entries, as the book numbers them. */
  readonly posted: JournalEntry[];
  /** Ended epochs, by account. */
  readonly diverged: ReadonlyMap<number, number>;
  /** Ends of the accounts' ledgers after the batch. */
  readonly positions: ReadonlyMap<number, LedgerPosition>;
}

/** The ledger already has the id of an entry that looked new. */
class IdTaken extends Error {}

/**
 * Posts journal entries to the ledger, which accepts each id once and numbers new entries: any gateway may post any
 * entry, any number of times. Account rows are locked first, by ascending id, the fixed lock order of the book. Two
 * gateways that post the same batch take turns, and the second finds every entry written.
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
 * Assumes that an entry is new if Redis and the book count it the same, which saves looking up every id. If that is
 * wrong, the ledger's unique id rejects the batch, nothing is written, and a second plan looks up all ids (`careful`).
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

/** Decides each entry, in journal order, starting at the ends of the ledgers. `known`: ids that the ledger has. */
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
      // A known id keeps its posted seq. A seq beyond the end means that Redis counted the entry twice.
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

/** Numbers an entry as the next one of a ledger. */
function numbered(entry: JournalEntry, { seq, balance }: LedgerPosition): JournalEntry {
  return { ...entry, seq: seq + 1, balanceAfter: micro(balance + entry.credits) };
}

/** Whether an entry, as the book numbers it, takes the balance from at or above the threshold to below it. */
function isCrossing({ credits, balanceAfter, threshold }: JournalEntry): boolean {
  return credits < 0 && balanceAfter - credits >= threshold && balanceAfter < threshold;
}

async function write(store: Store, trx: Trx, { posted, positions, diverged }: Plan): Promise<void> {
  const rows = posted.map(entryRow);
  const written = await insertRows(store, trx, 'ledger', rows, 'on conflict (id) do nothing');
  if (written !== posted.length) throw new IdTaken();
  await store.inOrder([
    () =>
      moveAccounts(store, trx, positions, [...posted.map(({ accountId }) => accountId), ...diverged.keys()]),
    () => addSpendDays(store, trx, posted),
    () => addFiveHours(store, trx, posted),
    () => queueAlerts(trx, posted),
    () => finishGrants(store, trx, posted),
    () => recordResources(trx, posted),
    () => recordMessages(store, trx, posted),
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
  await updateRows(store, trx, 'accounts', 'id', rows);
}

async function recordMessages(store: Store, trx: Trx, posted: readonly JournalEntry[]): Promise<void> {
  const rows = posted.flatMap(({ id, createdAt, message }) =>
    message === undefined ? [] : [{ id, created_at: createdAt, message }],
  );
  await insertRows(store, trx, 'call_messages', rows, 'on conflict (id) do nothing');
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
  await updateRows(store, trx, 'grants', 'id', rows);
}
