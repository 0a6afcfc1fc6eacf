import { sql } from 'kysely';
import { type Actor, SYSTEM } from '../domain/actor.ts';
import type { CallLimits } from '../domain/call-limits.ts';
import { creditsNumber, type Micro, micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import { emailKey } from '../domain/people.ts';
import { ROLES } from '../domain/roles.ts';
import { type SpendingLimit, wireLimits } from '../domain/spending-limits.ts';
import { difference, writeAudit } from './audit.ts';
import { insertGrant } from './grants.ts';
import { insertInvitation, type NewInvitation } from './invitations.ts';
import { insertKey, type NewKey } from './keys.ts';
import { chunks } from './many-rows.ts';
import { countTowardsRate } from './rates.ts';
import type { AccountRow } from './schema.ts';
import { endSessionsOfKeys } from './sessions.ts';
import { isUniqueViolation, type Store } from './store.ts';

/** Absent call limits are unlimited. */
export interface NewAccount extends Partial<CallLimits> {
  readonly email: string;
  /** Default: the e-mail address. */
  readonly name?: string;
  readonly alertThreshold: Micro;
  /** Default 0. */
  readonly overdraft?: Micro;
  /** Default: none. */
  readonly spendingLimits?: readonly SpendingLimit[];
  readonly webhookSecret: string;
  /** Invites its owner, in the same transaction. */
  readonly owner?: NewInvitation | undefined;
}

/** Absent fields keep their value. */
interface AccountChange extends Partial<CallLimits> {
  readonly email?: string;
  readonly name?: string;
  readonly alertThreshold?: Micro;
  readonly overdraft?: Micro;
  readonly spendingLimits?: readonly SpendingLimit[];
  readonly isActive?: boolean;
}

/** The email address belongs to another account. */
export class EmailTaken extends Error {}

/** Stores accounts. */
export interface BookAccounts {
  /** Creates an account, its first key and (with `grant`) a pending top-up in one transaction. Throws EmailTaken. */
  createAccount(
    account: NewAccount,
    firstKey: NewKey,
    grant: { id: string; amount: Micro; note: string } | null,
    now: number,
    by?: Actor,
  ): Promise<{ account: AccountRecord; key: KeyRecord }>;
  account(id: number): Promise<AccountRecord | undefined>;
  /** Email addresses of accounts, by id. */
  emails(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Accounts with ids above `after`, by id ascending; `emailPart` matches part of the email address, ignoring case. */
  accounts(after: number, limit: number, emailPart?: string): Promise<(AccountRecord & { balance: Micro })[]>;
  /**
   * Changes an account and increments its version; without a difference, writes nothing and keeps the version.
   * Undefined: no such account. Throws EmailTaken, and TooOften if the
   * owner (`isOwner`) changes the threshold for the eleventh time within an hour.
   */
  updateAccount(
    id: number,
    change: AccountChange,
    now: number,
    isOwner?: boolean,
    by?: Actor,
  ): Promise<AccountRecord | undefined>;
}

export function accountQueries(store: Store): BookAccounts {
  return {
    createAccount: createAccount(store),

    async account(id) {
      const row = await store.db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();
      return row && accountRecord(row);
    },

    async accounts(after, limit, emailPart) {
      const rows = await store.db
        .selectFrom('accounts')
        .selectAll()
        .where('id', '>', after)
        .$if(emailPart !== undefined, (query) => query.where(hasInIt(emailPart ?? '')))
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ ...accountRecord(row), balance: micro(row.balance) }));
    },

    async emails(ids) {
      const found = new Map<number, string>();
      for (const chunk of chunks(ids)) {
        const rows = await store.db
          .selectFrom('accounts')
          .select(['id', 'email'])
          .where('id', 'in', chunk)
          .execute();
        for (const { id, email } of rows) found.set(id, email);
      }
      return found;
    },

    updateAccount: updateAccount(store),
  };
}

/** Yields the ids of all accounts, ascending, in pages; `emailPart` as in `accounts`. */
export async function* pagesOfAccounts(
  db: Store['db'],
  atOnce: number,
  emailPart?: string,
): AsyncGenerator<number[]> {
  for (let after = 0; ; ) {
    const page = db
      .selectFrom('accounts')
      .select('id')
      .where('id', '>', after)
      .$if(emailPart !== undefined, (query) => query.where(hasInIt(emailPart ?? '')))
      .orderBy('id')
      .limit(atOnce);
    const ids = (await page.execute()).map(({ id }) => id);
    if (ids.length === 0) return;
    yield ids;
    after = ids.at(-1) ?? 0;
  }
}

function hasInIt(emailPart: string) {
  const pattern = `%${emailKey(emailPart).replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`email_key like ${pattern} escape '\\'`;
}

const createAccount =
  (store: Store): BookAccounts['createAccount'] =>
  (account, firstKey, grant, now, by = SYSTEM) =>
    store.transaction(async (trx) => {
      const row = await trx
        .insertInto('accounts')
        .values({
          email: account.email,
          email_key: emailKey(account.email),
          name: account.name ?? null,
          alert_threshold: account.alertThreshold,
          overdraft: account.overdraft ?? 0,
          spending_limits: JSON.stringify(account.spendingLimits ?? []),
          rpm_limit: account.rpmLimit ?? null,
          tpm_limit: account.tpmLimit ?? null,
          max_parallel_requests: account.maxParallelRequests ?? null,
          is_active: 1,
          webhook_secret: account.webhookSecret,
          last_entry_at: null,
          last_entry_hour: null,
          created_at: now,
          updated_at: now,
        })
        .onConflict((conflict) => conflict.column('email_key').doNothing())
        .returningAll()
        .executeTakeFirst();
      if (!row) throw emailTaken();
      const made = {
        by,
        action: 'account.create',
        ...whichAccount(row.id),
        after: wireAccount(row),
      } as const;
      await writeAudit(trx, made, now);
      const key = await insertKey(trx, row.id, firstKey, now, by);
      if (grant && grant.amount > 0) {
        await insertGrant(trx, { ...grant, accountId: row.id, type: 'top_up', createdAt: now }, null, by);
      }
      if (account.owner) {
        await insertInvitation(trx, row.id, account.owner, { by, roles: new Set(ROLES) }, now);
      }
      return { account: accountRecord(row), key };
    });

const updateAccount =
  (store: Store): BookAccounts['updateAccount'] =>
  async (id, change, now, isOwner = false, by = SYSTEM) => {
    const { alertThreshold } = change;
    try {
      const row = await store.transaction(async (trx) => {
        const found = trx.selectFrom('accounts').selectAll().where('id', '=', id);
        const before = await store.lock(found).executeTakeFirst();
        if (!before) return undefined;
        if (isOwner && alertThreshold !== undefined && before.alert_threshold !== alertThreshold) {
          await countTowardsRate(store, trx, 'alert_threshold', id, now);
        }
        const columns = changedColumns(change, before);
        if (Object.keys(columns).length === 0) return before;
        const after = await trx
          .updateTable('accounts')
          .set({ ...columns, version: sql<number>`version + 1`, updated_at: now })
          .where('id', '=', id)
          .returningAll()
          .executeTakeFirstOrThrow();
        if (columns.is_active === 0)
          await endSessionsOfKeys(trx, trx.selectFrom('keys').select('id').where('account_id', '=', id));
        const changed = difference(wireAccount(before), wireAccount(after));
        await writeAudit(trx, { by, action: 'account.update', ...whichAccount(id), ...changed }, now);
        return after;
      });
      return row && accountRecord(row);
    } catch (error) {
      // The email address is the only unique value set here.
      throw isUniqueViolation(error) ? emailTaken() : error;
    }
  };

function whichAccount(id: number) {
  return { accountId: id, target: { type: 'account', id } } as const;
}

/** The settings of an account under their API names. */
function wireAccount(row: AccountRow): Readonly<Record<string, unknown>> {
  const { email, name, rpm_limit, tpm_limit, max_parallel_requests } = row;
  const { alertThreshold, overdraft, spendingLimits, isActive } = accountRecord(row);
  return {
    email,
    name,
    is_active: isActive,
    alert_threshold: creditsNumber(alertThreshold),
    overdraft: creditsNumber(overdraft),
    spending_limits: wireLimits(spendingLimits),
    rpm_limit,
    tpm_limit,
    max_parallel_requests,
  };
}

/** The columns that a change sets to another value. */
function changedColumns(change: AccountChange, before: AccountRow): Partial<AccountRow> {
  const { email, isActive, spendingLimits } = change;
  const columns: { [C in keyof AccountRow]?: AccountRow[C] | undefined } = {
    email,
    email_key: email === undefined ? undefined : emailKey(email),
    name: change.name,
    alert_threshold: change.alertThreshold,
    overdraft: change.overdraft,
    spending_limits: spendingLimits && JSON.stringify(spendingLimits),
    rpm_limit: change.rpmLimit,
    tpm_limit: change.tpmLimit,
    max_parallel_requests: change.maxParallelRequests,
    is_active: isActive === undefined ? undefined : Number(isActive),
  };
  const changed = Object.entries(columns).filter(
    ([column, value]) => value !== undefined && value !== before[column as keyof AccountRow],
  );
  return Object.fromEntries(changed);
}

function emailTaken(): EmailTaken {
  return new EmailTaken('Another account has this e-mail address.');
}

export function accountRecord(row: AccountRow): AccountRecord {
  return {
    id: row.id,
    email: row.email,
    name: row.name ?? row.email,
    isActive: row.is_active === 1,
    alertThreshold: micro(row.alert_threshold),
    overdraft: micro(row.overdraft),
    spendingLimits: JSON.parse(row.spending_limits) as SpendingLimit[],
    rpmLimit: row.rpm_limit,
    tpmLimit: row.tpm_limit,
    maxParallelRequests: row.max_parallel_requests,
    webhookSecret: row.webhook_secret,
    createdAt: row.created_at,
    version: row.version,
  };
}
