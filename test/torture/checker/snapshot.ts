import type { Cluster, Redis } from 'ioredis';
import {
  accountRedisKey,
  BUCKETS,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
} from '../../../src/ledger/redis/redis-keys.ts';
import { type BookAddress, readBook } from '../../helper/check/book-reader.ts';
import { LIMIT_FIELDS, type Limits } from '../model/limits-model.ts';

/** Content of the book and Redis at rest, read without any code of the gateway. */
export interface Snapshot {
  readonly accounts: readonly AccountRow[];
  readonly keys: readonly KeyRow[];
  /** Entries, sorted by account and then in the order of the ledger. */
  readonly ledger: readonly LedgerRow[];
  readonly alerts: readonly AlertRow[];
  readonly deliveries: readonly DeliveryRow[];
  readonly pendingGrants: number;
  readonly liveAccounts: ReadonlyMap<number, Readonly<Record<string, string>>>;
  readonly liveKeys: ReadonlyMap<number, Readonly<Record<string, string>>>;
  /** Remaining journal entries and holds, without idempotency markers. */
  readonly leftovers: readonly string[];
}

export interface KeyRow extends Limits {
  readonly id: number;
  readonly account_id: number;
  readonly version: number;
}

export interface AccountRow extends Limits {
  readonly id: number;
  readonly email: string;
  readonly balance: number;
  readonly alert_threshold: number;
  readonly seq: number;
  readonly epoch: number;
  readonly version: number;
  /** JSON list. */
  readonly spending_limits: string;
}

export interface LedgerRow {
  readonly account_id: number;
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly day: number;
  readonly key_id: number | null;
  readonly model: string | null;
  readonly outcome: string | null;
  readonly credits: number;
  readonly balance_after: number;
  readonly note: string | null;
  readonly estimated: number;
  /** JSON of `Usage` (domain/units.ts). */
  readonly usage: string;
  readonly upstream: string | null;
  /** JSON with times, the five hours in which it counts, and `attempts` where there are any. */
  readonly call: string | null;
}

export interface AlertRow {
  readonly id: number;
  readonly account_id: number;
  readonly entry_id: string;
  readonly credits_balance: number;
  readonly state: string;
}

export interface DeliveryRow {
  readonly alert_id: number;
  readonly key_id: number;
  readonly status: string;
}

export async function takeSnapshot(address: BookAddress, raw: Redis | Cluster): Promise<Snapshot> {
  const book = await readBook(address, async (rows) => {
    const read = async <Row>(sql: string) => (await rows<object>(sql)).map((row) => exact<Row>(row));
    const [grants] = await read<{ pending: number }>(
      "select count(*) as pending from grants where state = 'pending'",
    );
    return {
      accounts: await read<AccountRow>(
        `select id, email, balance, alert_threshold, seq, epoch, version, spending_limits, ${LIMIT_FIELDS} from accounts order by id`,
      ),
      keys: await read<KeyRow>(`select id, account_id, version, ${LIMIT_FIELDS} from keys order by id`),
      ledger: await read<LedgerRow>(
        `select account_id, seq, id, type, day, key_id, model, outcome, credits, balance_after, note, estimated, usage, upstream, call
         from ledger order by account_id, seq`,
      ),
      alerts: await read<AlertRow>(
        'select id, account_id, entry_id, credits_balance, state from alerts where test = 0 order by id',
      ),
      deliveries: await read<DeliveryRow>('select alert_id, key_id, status from deliveries order by id'),
      pendingGrants: grants?.pending ?? 0,
    };
  });
  return { ...book, ...(await readLive(book, raw)) };
}

type Live = Pick<Snapshot, 'liveAccounts' | 'liveKeys' | 'leftovers'>;

async function readLive(book: Pick<Snapshot, 'accounts' | 'keys'>, raw: Redis | Cluster): Promise<Live> {
  const liveAccounts = new Map<number, Record<string, string>>();
  const liveKeys = new Map<number, Record<string, string>>();
  for (const { id } of book.accounts) liveAccounts.set(id, await raw.hgetall(accountRedisKey(id)));
  for (const { id, account_id } of book.keys)
    liveKeys.set(id, await raw.hgetall(keyRedisKey(account_id, id)));
  const leftovers: string[] = [];
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const entries = await raw.xlen(journalRedisKey(bucket));
    if (entries > 0) leftovers.push(`${entries} entries in journal ${bucket}`);
    for (const [id, hold] of Object.entries(await raw.hgetall(holdsRedisKey(bucket)))) {
      if (!hold.startsWith('-')) leftovers.push(`hold ${id}: ${hold}`);
    }
  }
  return { liveAccounts, liveKeys, leftovers };
}

/** A row with its bigints as numbers. Amounts of a history are far below 2^53; throws where one is not. */
function exact<Row>(row: object): Row {
  const values = Object.entries(row).map(([name, value]) => {
    if (typeof value !== 'bigint') return [name, value];
    if (BigInt(Number(value)) !== value) throw new RangeError(`${name} is ${value}`);
    return [name, Number(value)];
  });
  return Object.fromEntries(values) as Row;
}
