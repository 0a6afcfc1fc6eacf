import { type Kysely, sql } from 'kysely';
import { type Actor, SYSTEM } from '../domain/actor.ts';
import { creditsNumber, type Micro, micro } from '../domain/credits.ts';
import { writeAudit } from './audit.ts';
import type { BookSchema, GrantRow } from './schema.ts';
import type { Store, Trx } from './store.ts';

/** A balance change ordered by an operator, recorded before Redis applies it so no crash loses it. */
export interface Grant {
  readonly id: string;
  readonly accountId: number;
  /** Micro-credits; negative removes credits. */
  readonly amount: Micro;
  readonly type: 'top_up' | 'adjustment';
  readonly note: string;
  readonly createdAt: number;
  /** Balance right after the grant; null until its ledger entry is in the book. */
  readonly balanceAfter: Micro | null;
}

/** The Idempotency-Key was used before with another amount or note. */
export class IdempotencyKeyReused extends Error {}

/** Records balance changes before Redis applies them. */
export interface BookGrants {
  /**
   * Records a balance change before Redis applies it. If the account has a grant with this idempotency key, returns it
   * with `repeated: true`. Throws IdempotencyKeyReused.
   */
  createGrant(
    grant: Omit<Grant, 'balanceAfter'>,
    idempotencyKey: string | null,
    by?: Actor,
  ): Promise<{ grant: Grant; repeated: boolean }>;
  /** The earlier grant with this idempotency key; undefined if none. Throws IdempotencyKeyReused. */
  grantUnder(grant: Omit<Grant, 'balanceAfter'>, idempotencyKey: string): Promise<Grant | undefined>;
  /** Removes a refused grant without a ledger entry, which frees its idempotency key. */
  withdrawGrant(id: string): Promise<void>;
  /** Grants without a ledger entry, created before `createdBefore`. */
  pendingGrants(createdBefore: number, limit: number, after?: Grant): Promise<Grant[]>;
  /** The account's grants recorded before this one without a ledger entry, oldest first. */
  grantsBefore(grant: Pick<Grant, 'id' | 'accountId' | 'createdAt'>): Promise<Grant[]>;
}

type NewGrant = Omit<Grant, 'balanceAfter'>;

export function grantQueries(store: Store): BookGrants {
  const { db } = store;
  const repeatOf = async (grant: NewGrant, idempotencyKey: string): Promise<Grant | undefined> => {
    const first = await db
      .selectFrom('grants')
      .selectAll()
      .where('account_id', '=', grant.accountId)
      .where('idempotency_key', '=', idempotencyKey)
      .executeTakeFirst();
    if (first && (first.amount !== grant.amount || first.note !== grant.note)) {
      throw new IdempotencyKeyReused(
        'This Idempotency-Key was already used with another amount or note. Use a new one for a new change.',
      );
    }
    return first && grantRecord(first);
  };
  return {
    grantUnder: repeatOf,

    async createGrant(grant, idempotencyKey, by = SYSTEM) {
      const made = await store.transaction((trx) => insertGrant(trx, grant, idempotencyKey, by));
      if (made) return { grant: made, repeated: false };
      const first = idempotencyKey === null ? undefined : await repeatOf(grant, idempotencyKey);
      if (!first) throw new Error('a grant was neither made nor found');
      return { grant: first, repeated: true };
    },

    async withdrawGrant(id) {
      await store.transaction(async (trx) => {
        const row = await trx
          .deleteFrom('grants')
          .where('id', '=', id)
          .where('state', '=', 'pending')
          .returningAll()
          .executeTakeFirst();
        if (row) await writeAudit(trx, { by: SYSTEM, ...credited(row), before: shown(row) }, Date.now());
      });
    },

    async pendingGrants(createdBefore, limit, after) {
      const rows = await db
        .selectFrom('grants')
        .selectAll()
        // A literal, so both engines can use the index of pending grants.
        .where('state', '=', sql.lit('pending'))
        .where('created_at', '<', createdBefore)
        .$if(after !== undefined, (query) =>
          query.where(sql<boolean>`(created_at, id) > (${after?.createdAt}, ${after?.id})`),
        )
        .orderBy('created_at')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map(grantRecord);
    },

    async grantsBefore({ id, accountId, createdAt }) {
      const rows = await pendingOf(db, accountId)
        .where('created_at', '<=', createdAt)
        .where('id', '!=', id)
        .execute();
      return rows.map(grantRecord);
    },
  };
}

/** Grants of an account without a ledger entry, oldest first. */
export async function pendingGrantsOf(db: Kysely<BookSchema>, accountId: number): Promise<Grant[]> {
  const rows = await pendingOf(db, accountId).execute();
  return rows.map(grantRecord);
}

function pendingOf(db: Kysely<BookSchema>, accountId: number) {
  return db
    .selectFrom('grants')
    .selectAll()
    .where('state', '=', sql.lit('pending'))
    .where('account_id', '=', accountId)
    .orderBy('created_at')
    .orderBy('id');
}

/** Records a grant. Undefined: the account already has one with this idempotency key. */
export async function insertGrant(
  trx: Trx,
  grant: NewGrant,
  idempotencyKey: string | null,
  by: Actor,
): Promise<Grant | undefined> {
  const row = await trx
    .insertInto('grants')
    .values({
      id: grant.id,
      account_id: grant.accountId,
      amount: grant.amount,
      type: grant.type,
      note: grant.note,
      idempotency_key: idempotencyKey,
      state: 'pending',
      balance_after: null,
      created_at: grant.createdAt,
    })
    .onConflict((conflict) => conflict.columns(['account_id', 'idempotency_key']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) return undefined;
  await writeAudit(trx, { by, ...credited(row), after: shown(row) }, grant.createdAt);
  return grantRecord(row);
}

function credited({ account_id: id }: GrantRow) {
  return { action: 'account.credit', accountId: id, target: { type: 'account', id } } as const;
}

function shown({ amount, note }: GrantRow) {
  return { amount: creditsNumber(micro(amount)), note };
}

function grantRecord(row: GrantRow): Grant {
  return {
    id: row.id,
    accountId: row.account_id,
    amount: micro(row.amount),
    type: row.type,
    note: row.note,
    createdAt: row.created_at,
    balanceAfter: row.balance_after === null ? null : micro(row.balance_after),
  };
}
