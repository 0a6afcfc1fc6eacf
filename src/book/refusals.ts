import { sql } from 'kysely';
import type { RefusedCall } from '../domain/refused-call.ts';
import { chunks, insertRows, valueRows } from './many-rows.ts';
import type { RefusalRow } from './schema.ts';
import { addRefused } from './spend-days.ts';
import type { Store, Trx } from './store.ts';

export interface RefusalRecord {
  readonly refused: RefusedCall;
  /** Number of calls in the record. */
  readonly repeated: number;
}

/** Calls of one key, code and minute without separate records. */
export interface RepeatedRefusal {
  readonly first: RefusedCall;
  readonly repeated: number;
}

/** Refused calls per hour (since the epoch), by key. */
export interface RefusedCount {
  readonly accountId: number;
  readonly keyId: number;
  readonly hour: number;
  readonly count: number;
}

export interface RefusalBatch {
  readonly calls: readonly RefusedCall[];
  readonly repeated: readonly RepeatedRefusal[];
  readonly counts: readonly RefusedCount[];
}

/** Records refused calls (specification section 14). */
export interface BookRefusals {
  /**
   * Records refused calls. For each key, code and minute, the first `perMinute` of all gateways get a record each (a
   * few more if gateways write concurrently); one record covers the rest.
   */
  recordRefusals(batch: RefusalBatch, perMinute: number): Promise<void>;
  /** Those of these keys of an account whose last five or more calls since a time were all refused. */
  allRefused(accountId: number, keyIds: readonly number[], since: number): Promise<ReadonlySet<number>>;
}

const MINUTE_MS = 60_000;

/** Fields of a refused call that no query filters by. */
type PackedFields = Pick<RefusedCall, 'message' | 'param' | 'durationMs' | 'userAgent' | 'detail'>;

export function refusalQueries(store: Store): BookRefusals {
  return {
    async recordRefusals(batch, perMinute) {
      await store.transaction((trx) => record(store, trx, batch, perMinute));
    },

    async allRefused(accountId, keyIds, since) {
      const found = new Set<number>();
      for (const ids of chunks(keyIds)) {
        const rows = await store.db
          .selectFrom('keys')
          .select('id')
          .where('id', 'in', ids)
          .where(refusedInARow(accountId, since), '>=', REFUSED_IN_A_ROW)
          .execute();
        for (const { id } of rows) found.add(id);
      }
      return found;
    },
  };
}

/** Refused calls that make a key one of which all calls are refused. */
export const REFUSED_IN_A_ROW = 5;

/** Refused calls of a key since a time and its last call at a provider. Reads as many rows as decide, by index. */
function refusedInARow(accountId: number, since: number) {
  const lastCall = sql`(select max(started_at) from ledger
    where ledger.account_id = ${accountId} and ledger.key_id = keys.id and started_at >= ${since})`;
  return sql<number>`(select coalesce(sum(repeated), 0) from (
      select repeated from refusals
      where refusals.account_id = ${accountId} and refusals.key_id = keys.id
        and refusals.created_at >= ${since} and refusals.created_at > coalesce(${lastCall}, 0)
      limit ${sql.lit(REFUSED_IN_A_ROW)}
    ) as latest)`;
}

async function record(
  store: Store,
  trx: Trx,
  { calls, repeated, counts }: RefusalBatch,
  perMinute: number,
): Promise<void> {
  const recorded = await recordedBefore(trx, calls);
  const own: RefusedCall[] = [];
  const rests = new Map<string, RepeatedRefusal>();
  const addRest = ({ first, repeated }: RepeatedRefusal) => {
    const group = groupOf(first);
    const known = rests.get(group);
    rests.set(group, { first: known?.first ?? first, repeated: (known?.repeated ?? 0) + repeated });
  };
  for (const call of calls) {
    const group = groupOf(call);
    const count = recorded.get(group) ?? 0;
    recorded.set(group, count + 1);
    if (count < perMinute) own.push(call);
    else addRest({ first: call, repeated: 1 });
  }
  for (const rest of repeated) addRest(rest);
  await lockAccounts(
    store,
    trx,
    counts.map(({ accountId }) => accountId),
  );
  const rows = own.map((call) => refusalRow(call, 0, 1));
  const more = [...rests.values()].map((rest) => refusalRow(rest.first, 1, rest.repeated));
  await insertRows(store, trx, 'refusals', rows, 'on conflict (id) do nothing');
  await insertRows(
    store,
    trx,
    'refusals',
    more,
    'on conflict (key_id, code, minute) where is_rest = 1 do update set repeated = refusals.repeated + excluded.repeated',
  );
  await addRefused(
    store,
    trx,
    counts.map(({ accountId, keyId, hour, count }) => ({
      account_id: accountId,
      key_id: keyId,
      hour,
      refused: count,
    })),
  );
}

/** Account locks protect the sums, as when charges are posted. */
async function lockAccounts(store: Store, trx: Trx, accountIds: readonly number[]): Promise<void> {
  for (const ids of chunks([...new Set(accountIds)].sort((a, b) => a - b))) {
    await store.lock(trx.selectFrom('accounts').select('id').where('id', 'in', ids).orderBy('id')).execute();
  }
}

/** Records with the same keys, codes and minutes from other gateways and earlier batches. */
async function recordedBefore(trx: Trx, calls: readonly RefusedCall[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const groups = new Map(calls.map((call) => [groupOf(call), call]));
  for (const chunk of chunks([...groups.values()])) {
    const asked = valueRows(chunk.map((call) => [call.keyId, call.code, minuteOf(call)]));
    const { rows } = await sql<{ key_id: number; code: string; minute: number; count: number }>`
      with asked (key_id, code, minute) as ${asked}
      select refusals.key_id, refusals.code, refusals.minute, count(*) as count
      from asked join refusals
        on refusals.key_id = asked.key_id and refusals.code = asked.code
        and refusals.minute = asked.minute and refusals.is_rest = 0
      group by refusals.key_id, refusals.code, refusals.minute`.execute(trx);
    for (const { key_id, code, minute, count } of rows)
      found.set(`${key_id} ${code} ${minute}`, Number(count));
  }
  return found;
}

function groupOf(call: RefusedCall): string {
  return `${call.keyId} ${call.code} ${minuteOf(call)}`;
}

function minuteOf({ createdAt }: RefusedCall): number {
  return Math.floor(createdAt / MINUTE_MS);
}

function refusalRow(call: RefusedCall, is_rest: 0 | 1, repeated: number): Omit<RefusalRow, 'n'> {
  const { message, param, durationMs, userAgent, detail, streamed } = call;
  const packed: PackedFields = { message, param, durationMs, userAgent, detail };
  return {
    id: call.id,
    account_id: call.accountId,
    key_id: call.keyId,
    created_at: call.createdAt,
    minute: minuteOf(call),
    is_rest,
    repeated,
    model: call.model,
    category: call.category,
    endpoint: call.endpoint,
    streamed: streamed === null ? null : Number(streamed),
    status: call.status,
    code: call.code,
    told: JSON.stringify(packed),
  };
}

/** Fields that the rows of earlier versions may lack. */
const UNKNOWN: PackedFields = { message: '', param: null, durationMs: 0, userAgent: null, detail: null };

export function refusedCall(
  row: RefusalRow,
): RefusalRecord & { readonly id: string; readonly createdAt: number } {
  const { id, repeated } = row;
  const refused: RefusedCall = {
    ...UNKNOWN,
    ...(JSON.parse(row.told) as Partial<PackedFields>),
    id,
    accountId: row.account_id,
    keyId: row.key_id,
    createdAt: row.created_at,
    model: row.model,
    category: row.category,
    endpoint: row.endpoint,
    streamed: row.streamed === null ? null : row.streamed === 1,
    status: row.status,
    code: row.code,
  };
  return { id, createdAt: row.created_at, refused, repeated };
}
