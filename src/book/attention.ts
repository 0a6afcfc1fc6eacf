import { sql } from 'kysely';
import type { KeyRecord } from '../domain/key.ts';
import type { LedgerEntry, Outcome } from '../domain/ledger-entry.ts';
import { keyRecord, ofPerson } from './key-row.ts';
import { chunks } from './many-rows.ts';
import type { DeliveryError, DeliveryStatus, KeyRow } from './schema.ts';
import type { Store } from './store.ts';
import type { Only } from './usage.ts';

/** Refused calls of a key with a code that came after its last call that was not refused. */
export interface RefusedRun {
  readonly keyId: number;
  readonly code: string;
  readonly count: number;
  /** Times of the first and the last, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
}

/** The last delivery to a receiver of alerts. */
export interface LastDelivery {
  readonly keyId: number;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly error: DeliveryError | null;
  readonly httpStatus: number | null;
  readonly attemptedAt: number;
}

/** A call with its attempts, as far as they tell how a provider does. */
export interface ProviderCall extends Pick<LedgerEntry, 'status' | 'outcome' | 'attempts'> {
  /** Name of the upstream that it ended at. */
  readonly upstream: string;
  readonly model: string;
  /** Time of its arrival, in milliseconds since the epoch. */
  readonly at: number;
}

/** What tells whether somebody should act. Each query reads a bounded number of rows by an index. */
export interface BookAttention {
  /** Of the newest refused calls since a time. */
  refusedRuns(accountId: number, since: number, only?: Only): Promise<RefusedRun[]>;
  /**
   * Active keys that have spending limits, or expire between two times: at most a thousand, first those that expire, then
   * the newest.
   */
  watchedKeys(accountId: number, expiry: { from: number; to: number }, only?: Only): Promise<KeyRecord[]>;
  /** Those of these keys that the account has, unordered. */
  keysOf(accountId: number, ids: readonly number[]): Promise<KeyRecord[]>;
  /** Of the active keys with a webhook, by the newest alerts; of all accounts, those attempted since a time. */
  lastDeliveries(of: { readonly accountId: number } | { readonly since: number }): Promise<LastDelivery[]>;
  /** The newest calls that ended at an upstream since a time. */
  providerCalls(upstream: string, since: number): Promise<ProviderCall[]>;
}

const MOST_REFUSALS = 10_000;
const MOST_KEYS = 1_000;
const MOST_ALERTS = 20;
const MOST_DELIVERIES = 1_000;
/** Most calls of an upstream. */
export const MOST_CALLS = 500;

export function attentionQueries({ db }: Store): BookAttention {
  return {
    async refusedRuns(accountId, since, { keyId, personId } = {}) {
      const own = keyId === undefined ? sql`` : sql`and key_id = ${keyId}`;
      const its = personId === undefined ? sql`` : sql`and ${ofPerson(accountId, personId)}`;
      const { rows } = await sql<RefusedRun>`
        with recent as (
          select key_id, code, repeated, created_at from refusals
          where account_id = ${accountId} and created_at >= ${since} ${own} ${its}
          order by created_at desc limit ${MOST_REFUSALS}
        ), ends as (
          select key_id, coalesce((select max(started_at) from ledger
            where account_id = ${accountId} and ledger.key_id = parts.key_id), 0) as at
          from (select distinct key_id from recent) as parts
        )
        select recent.key_id as "keyId", code, sum(repeated) as count, min(created_at) as first, max(created_at) as last
        from recent join ends on ends.key_id = recent.key_id where created_at > ends.at
        group by recent.key_id, code`.execute(db);
      return rows;
    },

    async watchedKeys(accountId, { from, to }, { keyId, personId } = {}) {
      const rows = await db
        .selectFrom('keys')
        .selectAll()
        .where('account_id', '=', accountId)
        .where('is_active', '=', 1)
        .$if(keyId !== undefined, (query) => query.where('id', '=', keyId ?? 0))
        .$if(personId !== undefined, (query) => query.where('person_id', '=', personId ?? 0))
        .where((where) =>
          where.or([
            where('spending_limit', 'is not', null),
            where('spending_limits', '<>', '[]'),
            where.and([where('expires_at', '>', from), where('expires_at', '<=', to)]),
          ]),
        )
        .orderBy(
          sql`case when expires_at > ${from} and expires_at <= ${to} then expires_at else ${to + 1} end`,
        )
        .orderBy('id', 'desc')
        .limit(MOST_KEYS)
        .execute();
      return rows.map((row) => keyRecord(row as KeyRow));
    },

    async keysOf(accountId, ids) {
      const found: KeyRecord[] = [];
      for (const chunk of chunks(ids)) {
        const of = db.selectFrom('keys').selectAll().where('account_id', '=', accountId);
        found.push(...(await of.where('id', 'in', chunk).execute()).map(keyRecord));
      }
      return found;
    },

    async lastDeliveries(of) {
      const alerts = db.selectFrom('alerts').select('id').orderBy('id', 'desc').limit(MOST_ALERTS);
      const newest =
        'since' in of
          ? alerts.where('id', '>', sql<number>`(select max(id) from alerts) - ${MOST_ALERTS}`)
          : alerts.where('account_id', '=', of.accountId);
      const rows = await db
        .selectFrom('deliveries')
        .innerJoin('keys', 'keys.id', 'deliveries.key_id')
        .select([
          'deliveries.key_id as keyId',
          'deliveries.url',
          'deliveries.status',
          'deliveries.error',
          'deliveries.http_status as httpStatus',
          'deliveries.attempted_at as attemptedAt',
        ])
        .where('deliveries.alert_id', 'in', newest)
        .$if('since' in of, (query) => query.where('attempted_at', '>=', 'since' in of ? of.since : 0))
        .where('deliveries.status', '<>', 'unknown')
        .where('keys.is_active', '=', 1)
        .whereRef('keys.webhook_url', '=', 'deliveries.url')
        .orderBy('deliveries.id', 'desc')
        .limit(MOST_DELIVERIES)
        .execute();
      return [...new Map(rows.toReversed().map((row) => [row.keyId, row])).values()];
    },

    async providerCalls(upstream, since) {
      const rows = await db
        .selectFrom('ledger')
        .select(['started_at', 'model', 'status', 'outcome', 'call'])
        .where('upstream', '=', upstream)
        .where('started_at', '>=', since)
        .orderBy('started_at', 'desc')
        .limit(MOST_CALLS)
        .execute();
      return rows.map(({ started_at, model, status, outcome, call }) => ({
        upstream,
        model: model ?? '',
        at: started_at ?? 0,
        status,
        outcome: outcome as Outcome | null,
        ...attemptsOf(call),
      }));
    },
  };
}

function attemptsOf(call: string | null): Pick<LedgerEntry, 'attempts'> {
  const { attempts } = call === null ? {} : (JSON.parse(call) as Pick<LedgerEntry, 'attempts'>);
  return attempts === undefined ? {} : { attempts };
}
