import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely';
import { type Actor, SYSTEM } from '../domain/actor.ts';
import { type Micro, micro } from '../domain/credits.ts';
import { writeAudit } from './audit.ts';
import { countTowardsRate } from './rates.ts';
import type { AlertsTable, BookSchema, DeliveriesTable, DeliveryError, DeliveryStatus } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** One POST of an alert. */
export interface PlannedDelivery {
  readonly id: number;
  readonly keyId: number;
  readonly url: string;
}

export interface Delivery extends PlannedDelivery {
  readonly status: DeliveryStatus;
  readonly httpStatus: number | null;
  readonly error: DeliveryError | null;
  readonly durationMs: number | null;
  readonly attemptedAt: number;
}

export interface Alert {
  readonly id: number;
  readonly createdAt: number;
  readonly creditsBalance: Micro;
  readonly test: boolean;
  readonly deliveries: readonly Delivery[];
}

/** An alert that only this process may send. Its deliveries are in the book already, as `unknown`. */
export interface ClaimedAlert {
  readonly id: number;
  readonly accountId: number;
  readonly email: string;
  readonly webhookSecret: string;
  readonly creditsBalance: Micro;
  readonly test: boolean;
  readonly createdAt: number;
  /** First page of deliveries, by id; `plannedDeliveries` reads the next ones. */
  readonly deliveries: readonly PlannedDelivery[];
}

/** A key whose webhook gets the account's alerts. */
export interface Receiver {
  readonly keyId: number;
  readonly keyName: string;
  readonly url: string;
}

/** Queues low-credits alerts and records their deliveries. */
export interface BookAlerts {
  /** Ids of queued alerts, oldest first. */
  queuedAlerts(limit: number): Promise<number[]>;
  /**
   * The next queued alert of each account, oldest first, without the accounts in `except`. Crossing alerts precede the
   * account's tests, so frequent tests don't delay a real alert.
   */
  dueAlerts(except: readonly number[], limit: number): Promise<{ id: number; accountId: number }[]>;
  /**
   * Makes this process the only sender of the alert and writes its deliveries as `unknown`: one for each active,
   * unexpired key with a webhook. A test gets one per distinct address of these keys, at most 20, starting with that of
   * the requesting key. The account keeps its newest thousand alerts. Undefined: another process has claimed it, or it is gone.
   */
  claimAlert(id: number, now: number): Promise<ClaimedAlert | undefined>;
  /** Deliveries of a claimed alert with ids above `after`, by id ascending; empty at the end. */
  plannedDeliveries(alertId: number, after: number): Promise<PlannedDelivery[]>;
  finishDelivery(deliveryId: number, outcome: Omit<Delivery, keyof PlannedDelivery>): Promise<void>;
  /**
   * Queues a test alert for a key and returns its id; keeps only the last hundred tests. Throws TooOften beyond five a
   * minute over all gateways.
   */
  createTestAlert(
    accountId: number,
    keyId: number | null,
    creditsBalance: Micro,
    now: number,
    by?: Actor,
  ): Promise<number>;
  /** Keys that an alert at `now` would be sent to, by id ascending. */
  receivers(accountId: number, now: number, limit: number): Promise<Receiver[]>;
  /** Alerts of the account, newest first: at most `limit`, and fewer if their deliveries total more than 10,000. */
  alerts(accountId: number, limit: number): Promise<Alert[]>;
}

/** Most deliveries in a list of several alerts: with ten thousand keys, each alert has as many. */
const READ_AT_ONCE = 10_000;
/** Deliveries per page: the most that a sender holds in memory of an alert to thousands of keys. */
const PLANNED_AT_ONCE = 64;

export function alertQueries(store: Store): BookAlerts {
  const { db } = store;
  return {
    async queuedAlerts(limit) {
      const rows = await db
        .selectFrom('alerts')
        .select('id')
        // A literal, so both engines can use the index of queued alerts.
        .where('state', '=', sql.lit('queued'))
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => row.id);
    },

    async dueAlerts(except, limit) {
      let queued = db.selectFrom('alerts').where('state', '=', sql.lit('queued'));
      if (except.length > 0) queued = queued.where('account_id', 'not in', except);
      return await queued
        .select('account_id as accountId')
        .select(sql<number>`coalesce(min(case when test = 0 then id end), min(id))`.as('id'))
        .groupBy('account_id')
        .orderBy('id')
        .limit(limit)
        .execute();
    },

    claimAlert: (id, now) => store.transaction((trx) => claim(trx, id, now)),

    plannedDeliveries: (alertId, after) => planned(db, alertId, after),

    async finishDelivery(deliveryId, { status, httpStatus, error, durationMs, attemptedAt }) {
      await db
        .updateTable('deliveries')
        .set({ status, http_status: httpStatus, error, duration_ms: durationMs, attempted_at: attemptedAt })
        .where('id', '=', deliveryId)
        .execute();
    },

    createTestAlert: createTestAlert(store),

    receivers: (accountId, now, limit) =>
      receivingKeys(db, accountId, now)
        .select(['id as keyId', 'name as keyName', 'webhook_url as url'])
        .orderBy('id')
        .limit(limit)
        .execute(),

    async alerts(accountId, limit) {
      const alerts = await db
        .selectFrom('alerts')
        .selectAll()
        .where('account_id', '=', accountId)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      const ids = await withFewDeliveries(
        db,
        alerts.map((alert) => alert.id),
      );
      if (ids.length === 0) return [];
      const deliveries = await db
        .selectFrom('deliveries')
        .selectAll()
        .where('alert_id', 'in', ids)
        .orderBy('id')
        .execute();
      const byAlert = Map.groupBy(deliveries, (delivery) => delivery.alert_id);
      return alerts.slice(0, ids.length).map((alert) => alertRecord(alert, byAlert.get(alert.id) ?? []));
    },
  };
}

/**
 * Claims an alert by an update: of concurrent gateways, one finds it queued (specification section 6, "never twice").
 */
async function claim(trx: Trx, id: number, now: number): Promise<ClaimedAlert | undefined> {
  const alert = await trx
    .updateTable('alerts')
    .set({ state: 'claimed', claimed_at: now })
    .where('id', '=', id)
    .where('state', '=', 'queued')
    .returningAll()
    .executeTakeFirst();
  if (!alert) return undefined;
  const account = await trx
    .selectFrom('accounts')
    .select(['email', 'webhook_secret'])
    .where('id', '=', alert.account_id)
    .executeTakeFirstOrThrow();
  const alerts = trx.selectFrom('alerts').where('account_id', '=', alert.account_id);
  await removeBeyond(trx, KEPT, alerts.where('id', '<=', id));
  await planDeliveries(trx, alert, now);
  return {
    id,
    accountId: alert.account_id,
    email: account.email,
    webhookSecret: account.webhook_secret,
    creditsBalance: micro(alert.credits_balance),
    test: alert.test === 1,
    createdAt: alert.created_at,
    deliveries: await planned(trx, id, 0),
  };
}

/** Active, unexpired keys with a webhook. */
function receivingKeys(db: Kysely<BookSchema>, accountId: number, now: number) {
  return db
    .selectFrom('keys')
    .where('account_id', '=', accountId)
    .where('is_active', '=', 1)
    .where('webhook_url', '!=', '')
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]));
}

/** Most distinct addresses of a test alert, so a test can't flood a third-party server. */
const TESTED = 20;

/**
 * Writes the deliveries of an alert as `unknown`, which they stay until the attempt ends, or for good if the sender
 * dies. The database creates the rows: ten thousand keys would otherwise pass through the gateway's memory twice. A
 * test has few, starting with that of the requesting key.
 */
async function planDeliveries(trx: Trx, alert: Selectable<AlertsTable>, now: number): Promise<void> {
  const receivers = receivingKeys(trx, alert.account_id, now);
  const each = receivers.select(['id as key_id', 'webhook_url as url', sql.lit(0).as('place')]);
  const asking = alert.key_id ?? 0;
  const few = receivers
    .select([
      sql<number>`coalesce(min(case when id = ${asking} then id end), min(id))`.as('key_id'),
      'webhook_url as url',
      sql<number>`min(case when id = ${asking} then 0 else 1 end)`.as('place'),
    ])
    .groupBy('webhook_url')
    .orderBy('place')
    .orderBy('key_id')
    .limit(TESTED);
  await trx
    .insertInto('deliveries')
    .columns(['alert_id', 'key_id', 'url', 'status', 'attempted_at'])
    .expression((eb) =>
      eb
        .selectFrom((alert.test === 1 ? few : each).as('planned'))
        .select([
          sql<number>`cast(${alert.id} as bigint)`.as('alert_id'),
          'key_id',
          'url',
          sql.lit('unknown' as const).as('status'),
          sql<number>`cast(${now} as bigint)`.as('attempted_at'),
        ])
        .orderBy('place')
        .orderBy('key_id'),
    )
    .execute();
}

async function planned(db: Kysely<BookSchema>, alertId: number, after: number): Promise<PlannedDelivery[]> {
  return await db
    .selectFrom('deliveries')
    .select(['id', 'key_id as keyId', 'url'])
    .where('alert_id', '=', alertId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(PLANNED_AT_ONCE)
    .execute();
}

/** The longest prefix of the alerts with at most READ_AT_ONCE deliveries in total; at least one alert. */
async function withFewDeliveries(db: Kysely<BookSchema>, ids: readonly number[]): Promise<readonly number[]> {
  if (ids.length < 2) return ids;
  const rows = await db
    .selectFrom('deliveries')
    .select(['alert_id', (eb) => eb.fn.count<number>('id').as('count')])
    .where('alert_id', 'in', ids)
    .groupBy('alert_id')
    .execute();
  const counts = new Map(rows.map(({ alert_id, count }) => [alert_id, count]));
  let sum = 0;
  const end = ids.findIndex((id, index) => {
    sum += counts.get(id) ?? 0;
    return index > 0 && sum > READ_AT_ONCE;
  });
  return end < 0 ? ids : ids.slice(0, end);
}

function alertRecord(
  row: Selectable<AlertsTable>,
  deliveries: readonly Selectable<DeliveriesTable>[],
): Alert {
  return {
    id: row.id,
    createdAt: row.created_at,
    creditsBalance: micro(row.credits_balance),
    test: row.test === 1,
    deliveries: deliveries.map(deliveryRecord),
  };
}

function deliveryRecord(row: Selectable<DeliveriesTable>): Delivery {
  return {
    id: row.id,
    keyId: row.key_id,
    url: row.url,
    status: row.status,
    httpStatus: row.http_status,
    error: row.error,
    durationMs: row.duration_ms,
    attemptedAt: row.attempted_at,
  };
}

/** Alerts kept per account, and tests among them: both cost next to nothing, and would fill the book. */
const KEPT = 1_000;
const KEPT_TESTS = 100;

/** Queues a test alert. */
function createTestAlert(store: Store): BookAlerts['createTestAlert'] {
  return (accountId, keyId, creditsBalance, now, by = SYSTEM) =>
    store.transaction(async (trx) => {
      await countTowardsRate(store, trx, 'test_alert', accountId, now);
      const { id } = await trx
        .insertInto('alerts')
        .values({
          account_id: accountId,
          entry_id: null,
          created_at: now,
          credits_balance: creditsBalance,
          test: 1,
          key_id: keyId,
          state: 'queued',
          claimed_at: null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      const alerts = trx.selectFrom('alerts').where('account_id', '=', accountId);
      await removeBeyond(trx, KEPT_TESTS, alerts.where('test', '=', sql.lit(1)));
      const target = { type: 'account', id: accountId } as const;
      await writeAudit(trx, { by, action: 'alert.test', accountId, target }, now);
      return id;
    });
}

/** Removes the alerts beyond the newest `kept`, with their deliveries. */
async function removeBeyond(
  trx: Trx,
  kept: number,
  alerts: SelectQueryBuilder<BookSchema, 'alerts', object>,
): Promise<void> {
  const ids = alerts.select('id');
  const newest = await ids.orderBy('id', 'desc').offset(kept).limit(1).executeTakeFirst();
  if (!newest) return;
  const old = ids.where('id', '<=', newest.id);
  await trx.deleteFrom('deliveries').where('alert_id', 'in', old).execute();
  await trx.deleteFrom('alerts').where('id', 'in', old).execute();
}
