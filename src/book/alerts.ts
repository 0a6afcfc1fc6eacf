import { type Kysely, type Selectable, sql } from 'kysely';
import { micro } from '../domain/credits.ts';
import type { Alert, Book, ClaimedAlert, Delivery, PlannedDelivery } from './book.ts';
import type { AlertsTable, BookSchema, DeliveriesTable } from './schema.ts';
import type { Store, Trx } from './store.ts';
import { createTestAlert } from './test-alerts.ts';

type Alerts = Pick<
  Book,
  | 'queuedAlerts'
  | 'dueAlerts'
  | 'claimAlert'
  | 'plannedDeliveries'
  | 'finishDelivery'
  | 'createTestAlert'
  | 'alerts'
>;

/** Deliveries of a page: as many of an alert to thousands of keys are in a sender's memory. */
const PLANNED_AT_ONCE = 64;

export function alertQueries(store: Store): Alerts {
  const { db } = store;
  return {
    async queuedAlerts(limit) {
      const rows = await db
        .selectFrom('alerts')
        .select('id')
        // A literal, so that both engines can see that the index of queued alerts serves it.
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

    async finishDelivery(deliveryId, { status, httpStatus, durationMs, attemptedAt }) {
      await db
        .updateTable('deliveries')
        .set({ status, http_status: httpStatus, duration_ms: durationMs, attempted_at: attemptedAt })
        .where('id', '=', deliveryId)
        .execute();
    },

    createTestAlert: createTestAlert(store),

    async alerts(accountId, limit) {
      const alerts = await db
        .selectFrom('alerts')
        .selectAll()
        .where('account_id', '=', accountId)
        .orderBy('id', 'desc')
        .limit(limit)
        .execute();
      if (alerts.length === 0) return [];
      const ids = alerts.map((alert) => alert.id);
      const deliveries = await db
        .selectFrom('deliveries')
        .selectAll()
        .where('alert_id', 'in', ids)
        .orderBy('id')
        .execute();
      const byAlert = Map.groupBy(deliveries, (delivery) => delivery.alert_id);
      return alerts.map((alert) => alertRecord(alert, byAlert.get(alert.id) ?? []));
    },
  };
}

/** Claims an alert by an update: of all gateways that try at once, one finds it queued (specification section 6, "never twice"). */
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
  await planDeliveries(trx, id, alert.account_id, now);
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

/**
 * Writes the deliveries of an alert as `unknown`, which they stay until the attempt is over, or for good where the sender
 * dies. The database makes the rows by itself: ten thousand keys would otherwise pass through the gateway's memory twice.
 */
async function planDeliveries(trx: Trx, alertId: number, accountId: number, now: number): Promise<void> {
  await trx
    .insertInto('deliveries')
    .columns(['alert_id', 'key_id', 'url', 'status', 'attempted_at'])
    .expression((eb) =>
      eb
        .selectFrom('keys')
        .select([
          sql<number>`cast(${alertId} as bigint)`.as('alert_id'),
          'id as key_id',
          'webhook_url as url',
          sql.lit('unknown' as const).as('status'),
          sql<number>`cast(${now} as bigint)`.as('attempted_at'),
        ])
        .where('account_id', '=', accountId)
        .where('is_active', '=', 1)
        .where('webhook_url', '!=', '')
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
        .orderBy('keys.id'),
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
    durationMs: row.duration_ms,
    attemptedAt: row.attempted_at,
  };
}
