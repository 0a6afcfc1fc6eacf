import { type Kysely, sql } from 'kysely';
import type { Actor, ActorType } from '../domain/actor.ts';
import type { AuditAction, AuditTargetType } from '../domain/audit.ts';
import type { AuditRow } from './people-tables.ts';
import type { BookSchema } from './schema.ts';
import type { Store } from './store.ts';

/** What was done, and to what. */
export interface AuditedChange {
  readonly by: Actor;
  readonly action: AuditAction;
  /** Null: of no account, so only the operator reads it. */
  readonly accountId: number | null;
  readonly target: { readonly type: AuditTargetType; readonly id: number | string | null };
  /** Fields that changed, under their API names. Never secrets, hashes or passwords. */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

/** Filters of the audit log; times in milliseconds since the epoch. */
export interface AuditQuery {
  /** Undefined: all, and those of no account. */
  readonly accountId?: number | undefined;
  readonly limit: number;
  /** Only entries with lower ids. */
  readonly before?: number | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly actor?: { readonly type: string; readonly id: string } | undefined;
  readonly target?: { readonly type: string; readonly id: string } | undefined;
  readonly action?: string | undefined;
}

export interface AuditEntry {
  readonly id: number;
  readonly at: number;
  readonly accountId: number | null;
  readonly actor: { readonly type: ActorType; readonly id: number | null; readonly name: string | null };
  readonly action: AuditAction;
  readonly target: {
    readonly type: AuditTargetType;
    /** A number but for a route. */
    readonly id: number | string | null;
    readonly name: string | null;
  };
  readonly before: object | null;
  readonly after: object | null;
  readonly ip: string | null;
  readonly requestId: string | null;
}

/** The audit log: append-only; every change is an entry of its own transaction. */
export interface BookAudit {
  /** Records what is no change of the book, such as a refusal or a reload of the config. */
  audit(change: AuditedChange, now: number): Promise<void>;
  /** Entries, newest first, with the present names of actors and targets. */
  auditEntries(query: AuditQuery): Promise<AuditEntry[]>;
}

export function auditQueries(store: Store): BookAudit {
  const { db } = store;
  return {
    audit: (change, now) => writeAudit(db, change, now),

    async auditEntries({ accountId, limit, before, from, to, actor, target, action }) {
      let query = db
        .selectFrom('audit')
        .selectAll()
        .select([actorName.as('actor_name'), targetName.as('target_name')])
        .orderBy('id', 'desc')
        .limit(limit);
      if (accountId !== undefined) query = query.where('account_id', '=', accountId);
      if (before !== undefined) query = query.where('id', '<', before);
      if (from !== undefined) query = query.where('at', '>=', from);
      if (to !== undefined) query = query.where('at', '<=', to);
      if (action !== undefined) query = query.where(sql<string>`action`, '=', action);
      if (actor !== undefined)
        query = query
          .where(sql<string>`actor_type`, '=', actor.type)
          .where(sql<string>`cast(actor_id as text)`, '=', actor.id);
      if (target !== undefined)
        query = query.where(sql<string>`target_type`, '=', target.type).where('target_id', '=', target.id);
      return (await query.execute()).map(entryOf);
    },
  };
}

/** Names are read, never kept: an erased person leaves none. */
const actorName = sql<string | null>`case actor_type
  when 'person' then (select coalesce(nullif(name, ''), email) from persons where persons.id = actor_id)
  when 'key' then (select name from keys where keys.id = actor_id) end`;
const targetId = sql`cast(target_id as bigint)`;
const targetName = sql<string | null>`case target_type
  when 'account' then (select coalesce(name, email) from accounts where accounts.id = ${targetId})
  when 'key' then (select name from keys where keys.id = ${targetId})
  when 'person' then (select coalesce(nullif(name, ''), email) from persons where persons.id = ${targetId})
  when 'member' then (select coalesce(nullif(name, ''), email) from persons where persons.id = ${targetId})
  when 'invitation' then (select coalesce(name, email) from invitations where invitations.id = ${targetId}) end`;

/** Writes an entry, in the transaction of its change. */
export async function writeAudit(
  trx: Kysely<BookSchema>,
  { by, action, accountId, target, before, after }: AuditedChange,
  now: number,
): Promise<void> {
  await trx
    .insertInto('audit')
    .values({
      at: now,
      account_id: accountId,
      actor_type: by.type,
      actor_id: by.id,
      action,
      target_type: target.type,
      target_id: target.id === null ? null : String(target.id),
      before: packed(before),
      after: packed(after),
      ip: by.ip,
      request_id: by.requestId,
    })
    .execute();
}

function packed(fields: object | undefined): string | null {
  return fields === undefined || Object.keys(fields).length === 0 ? null : JSON.stringify(fields);
}

/** The members of `after` that differ from those of `before`, of both. */
export function difference(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): { readonly before: object; readonly after: object } {
  const changed = Object.keys(after).filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const of = (fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(changed.map((name) => [name, fields[name]]));
  return { before: of(before), after: of(after) };
}

function idOf(text: string | null): number | string | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : text;
}

function entryOf(row: AuditRow & { actor_name: string | null; target_name: string | null }): AuditEntry {
  return {
    id: row.id,
    at: row.at,
    accountId: row.account_id,
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name },
    action: row.action,
    target: { type: row.target_type, id: idOf(row.target_id), name: row.target_name },
    before: row.before === null ? null : JSON.parse(row.before),
    after: row.after === null ? null : JSON.parse(row.after),
    ip: row.ip,
    requestId: row.request_id,
  };
}
