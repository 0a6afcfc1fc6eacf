import { sql } from 'kysely';
import type { Actor } from '../domain/actor.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import { accountRecord } from './accounts.ts';
import { writeAudit } from './audit.ts';
import { keyRecord, NO_PREVIOUS, settingColumns } from './key-row.ts';
import type { AccountRow, KeyRow } from './schema.ts';
import { endSessionsOfKeys } from './sessions.ts';
import type { Store, Trx } from './store.ts';

/** Erases accounts: people and texts go, amounts and ids stay. */
export interface BookAccountErasure {
  /**
   * Deactivates an account and its keys for good, ends memberships and invitations, and removes e-mail address, names,
   * descriptions, notes, webhook and IP addresses, refused calls and alerts. Resolves with what is to be published;
   * undefined: no such account. Safe to repeat.
   */
  eraseAccount(id: number, by: Actor, now: number): Promise<ErasedAccount | undefined>;
  /** Removes user agents, messages and notes from the account's ledger, few rows per statement. Safe to repeat. */
  eraseTextsOfCalls(accountId: number): Promise<void>;
}

export interface ErasedAccount {
  readonly account: AccountRecord;
  readonly keys: readonly KeyRecord[];
}

/** Ledger entries per statement, which keeps SQLite's other writers waiting for 30 ms. */
const ENTRIES = 2_000;
/** Entries of the audit log read at once. */
const PAGE = 500;

export function accountErasureQueries(store: Store): BookAccountErasure {
  const { db, engine } = store;
  return {
    eraseAccount: (id, by, now) =>
      store.transaction(async (trx) => {
        const row = await eraseSettings(store, trx, id, now);
        if (!row) return undefined;
        const keys = await eraseKeys(trx, id, now);
        await endMemberships(trx, id, now);
        await eraseRecords(trx, id);
        await eraseAuditOf(trx, id);
        const target = { type: 'account', id } as const;
        await writeAudit(trx, { by, action: 'account.erase', accountId: id, target }, now);
        return { account: accountRecord(row), keys };
      }),

    async eraseTextsOfCalls(accountId) {
      const found = db.selectFrom('accounts').select('seq').where('id', '=', accountId);
      const last = (await found.executeTakeFirst())?.seq ?? 0;
      const call =
        engine === 'sqlite'
          ? sql<string>`json_remove(call, '$.userAgent', '$.message', '$.param')`
          : sql<string>`(call::jsonb - '{userAgent,message,param}'::text[])::text`;
      for (let from = 1; from <= last; from += ENTRIES) {
        const entries = db
          .selectFrom('ledger')
          .select('id')
          .where('account_id', '=', accountId)
          .where('seq', '>=', from)
          .where('seq', '<', from + ENTRIES);
        await db.deleteFrom('call_messages').where('id', 'in', entries).execute();
        await db.updateTable('ledger').set({ note: null, call }).where('id', 'in', entries).execute();
      }
    },
  };
}

async function eraseSettings(
  store: Store,
  trx: Trx,
  id: number,
  now: number,
): Promise<AccountRow | undefined> {
  await store.lock(trx.selectFrom('accounts').select('id').where('id', '=', id)).execute();
  const email = erasedEmail(id, 'account');
  const columns = { email, email_key: email, name: null, is_active: 0, updated_at: now };
  return await trx
    .updateTable('accounts')
    .set({ ...columns, version: sql<number>`version + 1` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
}

/** E-mail address of an account in place of one that was erased: with the account, or with the person it was of. */
export function erasedEmail(accountId: number, erased: 'account' | 'contact'): string {
  return `${erased}-${accountId}@erased.invalid`;
}

/** Whether the account was erased, which is for good. */
export function isErased({ id, email }: Pick<AccountRecord, 'id' | 'email'>): boolean {
  return email === erasedEmail(id, 'account');
}

/** The keys expire too: whoever activates one again does not revive a key without its restrictions. */
async function eraseKeys(trx: Trx, accountId: number, now: number): Promise<KeyRecord[]> {
  const erased: KeyRecord[] = [];
  const found = trx.selectFrom('keys').selectAll().where('account_id', '=', accountId);
  for (const row of await found.execute()) {
    const columns: Partial<KeyRow> = {
      ...settingColumns({
        ...keyRecord(row),
        name: 'erased',
        description: '',
        webhookUrl: '',
        allowedIps: [],
        allowedOrigins: [],
        isActive: false,
        expiresAt: Math.min(row.expires_at ?? now, now),
      }),
      ...NO_PREVIOUS,
      updated_at: now,
    };
    const update = trx.updateTable('keys').set({ ...columns, version: sql<number>`version + 1` });
    erased.push(keyRecord(await update.where('id', '=', row.id).returningAll().executeTakeFirstOrThrow()));
  }
  await endSessionsOfKeys(trx, trx.selectFrom('keys').select('id').where('account_id', '=', accountId));
  return erased;
}

/** Ends the sessions of members without another account, too. */
async function endMemberships(trx: Trx, accountId: number, now: number): Promise<void> {
  const ended = await trx
    .deleteFrom('memberships')
    .where('account_id', '=', accountId)
    .returning('person_id')
    .execute();
  for (const { person_id } of ended) {
    const others = trx.selectFrom('memberships').select('person_id').where('is_active', '=', 1);
    await trx
      .deleteFrom('sessions')
      .where('person_id', '=', person_id)
      .where('person_id', 'not in', others)
      .execute();
  }
  await trx
    .updateTable('invitations')
    .set({ email: null, name: null, ended_at: sql<number>`coalesce(ended_at, ${now})` })
    .where('account_id', '=', accountId)
    .execute();
}

async function eraseRecords(trx: Trx, accountId: number): Promise<void> {
  const alerts = trx.selectFrom('alerts').select('id').where('account_id', '=', accountId);
  await trx.deleteFrom('deliveries').where('alert_id', 'in', alerts).execute();
  for (const table of ['alerts', 'refusals'] as const)
    await trx.deleteFrom(table).where('account_id', '=', accountId).execute();
  await trx
    .updateTable('grants')
    .set({ note: '', idempotency_key: null })
    .where('account_id', '=', accountId)
    .execute();
}

/**
 * Takes addresses and texts out of the audit log of an account, and addresses out of the sessions of its keys, which are of
 * no account there; actions, ids, numbers and times stay.
 */
async function eraseAuditOf(trx: Trx, accountId: number): Promise<void> {
  const keys = trx.selectFrom('keys').select('id').where('account_id', '=', accountId);
  await trx
    .updateTable('audit')
    .set({ ip: null })
    .where((where) =>
      where.or([
        where('account_id', '=', accountId),
        where.and([where('actor_type', '=', 'key'), where('actor_id', 'in', keys)]),
      ]),
    )
    .execute();
  const without = (json: string | null) =>
    json && JSON.stringify(JSON.parse(json, (_, value) => (typeof value === 'string' ? null : value)));
  for (let last = 0; ; ) {
    const rows = await trx
      .selectFrom('audit')
      .select(['id', 'before', 'after'])
      .where('account_id', '=', accountId)
      .where('id', '>', last)
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id, before, after } of rows) {
      const erased = { before: without(before), after: without(after) };
      if (erased.before === before && erased.after === after) continue;
      await trx.updateTable('audit').set(erased).where('id', '=', id).execute();
    }
    if (rows.length < PAGE) return;
    last = rows.at(-1)?.id ?? 0;
  }
}
