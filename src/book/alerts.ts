import { type Selectable, sql } from 'kysely';
import { micro } from '../domain/credits.ts';
import type { Alert, Book, ClaimedAlert, Delivery } from './book.ts';
import type { AlertsTable, DeliveriesTable } from './schema.ts';
import type { Store, Trx } from './store.ts';
import { chunks } from './value-rows.ts';

type Alerts = Pick<Book, 'queuedAlerts' | 'claimAlert' | 'finishDelivery' | 'createTestAlert' | 'alerts'>;

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

    claimAlert: (id, now) => store.transaction((trx) => claim(trx, id, now)),

    async finishDelivery(deliveryId, { status, httpStatus, durationMs, attemptedAt }) {
      await db
        .updateTable('deliveries')
        .set({ status, http_status: httpStatus, duration_ms: durationMs, attempted_at: attemptedAt })
        .where('id', '=', deliveryId)
        .execute();
    },

    async createTestAlert(accountId, creditsBalance, now) {
      const row = await db
        .insertInto('alerts')
        .values({
          account_id: accountId,
          entry_id: null,
          created_at: now,
          credits_balance: creditsBalance,
          test: 1,
          state: 'queued',
          claimed_at: null,
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      return row.id;
    },

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

/** The update decides: of all that try at once, one finds the alert queued (contract section 6, "never twice"). */
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
  return {
    id,
    accountId: alert.account_id,
    email: account.email,
    webhookSecret: account.webhook_secret,
    creditsBalance: micro(alert.credits_balance),
    test: alert.test === 1,
    createdAt: alert.created_at,
    deliveries: await planDeliveries(trx, id, alert.account_id, now),
  };
}

/** `unknown` until the attempt is over, so that one that dies with its sender says so. */
async function planDeliveries(
  trx: Trx,
  alertId: number,
  accountId: number,
  now: number,
): Promise<ClaimedAlert['deliveries']> {
  const keys = await trx
    .selectFrom('keys')
    .select(['id', 'webhook_url'])
    .where('account_id', '=', accountId)
    .where('is_active', '=', 1)
    .where('webhook_url', '!=', '')
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
    .orderBy('id')
    .execute();
  const planned: { id: number; keyId: number; url: string }[] = [];
  for (const chunk of chunks(keys)) {
    const rows = chunk.map((key) => ({
      alert_id: alertId,
      key_id: key.id,
      url: key.webhook_url,
      status: 'unknown' as const,
      http_status: null,
      duration_ms: null,
      attempted_at: now,
    }));
    const made = await trx
      .insertInto('deliveries')
      .values(rows)
      .returning(['id', 'key_id as keyId', 'url'])
      .execute();
    planned.push(...made);
  }
  return planned.sort((a, b) => a.id - b.id);
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
