import { type Expression, sql } from 'kysely';
import type { Actor } from '../domain/actor.ts';
import type { Membership, Person } from '../domain/people.ts';
import { writeAudit } from './audit.ts';
import { activeKeys, membershipOf } from './membership-row.ts';
import type { MembershipRow } from './people-tables.ts';
import type { Store, Trx } from './store.ts';

/** Sessions end after this time without use, and after `MOST_MS` at most. */
const IDLE_MS = 7 * 86_400_000;
const MOST_MS = 30 * 86_400_000;
/** Addresses are known for this time after the last sign-in from there. */
export const KNOWN_MS = 30 * 86_400_000;
/** Sessions of a key, or of the operator's token; a new one ends the oldest, so that a leaked key can't fill the book. */
const MOST_OF_CREDENTIAL = 100;
/** Uses of a session and of a person are noted at most this often. */
const NOTED_EVERY_MS = 60_000;

export interface NewSession {
  readonly personId: number;
  /** SHA-256 (hex). */
  readonly secretHash: string;
  /** The hash that a sign-in was checked against: a password changed meanwhile refuses it. Undefined: no password. */
  readonly passwordHash?: string | undefined;
  /** Network of the client, which is then known as the person's. */
  readonly network: string;
  readonly userAgent: string | null;
  /** Hash of the session that the same browser had, which ends; undefined: none. */
  readonly replaces?: string | undefined;
}

/** A new session of a key, or of the operator's token. */
export interface NewCredentialSession {
  /** SHA-256 (hex). */
  readonly secretHash: string;
  /** Null: of the operator's token. */
  readonly keyId: number | null;
  /** SHA-256 (hex) of the key's value, or the keyed hash of the token. */
  readonly credentialHash: string;
  readonly userAgent: string | null;
  /** As in NewSession. */
  readonly replaces?: string | undefined;
}

interface AnySession {
  readonly id: number;
  readonly createdAt: number;
  readonly seenAt: number;
}

/** A session of a key or of the operator's token. The caller checks that these still have rights. */
export interface CredentialSession
  extends AnySession,
    Pick<NewCredentialSession, 'keyId' | 'credentialHash'> {
  readonly person: undefined;
}

/** A session of a person, who is active. */
export interface PersonSession extends AnySession {
  readonly person: Person;
  /** The person's active memberships. */
  readonly memberships: readonly Membership[];
}

/** A session that has not ended. */
export type OpenSession = PersonSession | CredentialSession;

/** A session in the list of its person. */
export interface SessionRecord {
  readonly id: number;
  readonly createdAt: number;
  readonly seenAt: number;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** A membership in the list of its person. */
export interface PersonMembership extends Membership {
  /** The account's name, or its e-mail address. */
  readonly accountName: string;
  readonly activeKeys: number;
}

/** Columns of a person who was joined. */
interface PresentPerson {
  readonly person_id: number;
  readonly email: string;
  readonly name: string;
  readonly is_operator: number;
  readonly person_since: number;
}

/** Sessions of people, keys and the operator's token. Times in milliseconds since the epoch. */
export interface BookSessions {
  /** Resolves with the session's id; undefined if the person is not active, or has another password now. */
  createSession(session: NewSession, by: Actor, now: number): Promise<number | undefined>;
  /** Resolves with the session's id. */
  createCredentialSession(session: NewCredentialSession, by: Actor, now: number): Promise<number>;
  /** One query. Undefined: none, ended, or its person is not active. */
  session(secretHash: string, now: number): Promise<OpenSession | undefined>;
  /** Notes the use of a session, if the last note is a minute old. */
  noteUse(session: OpenSession, now: number): Promise<void>;
  sessions(personId: number, now: number): Promise<SessionRecord[]>;
  /** Ends one session of a person, or all. Resolves with their number. */
  endSessions(personId: number, sessionId: number | undefined, by: Actor, now: number): Promise<number>;
  /** Ends a session, if it has not ended. */
  endSession(sessionId: number, by: Actor, now: number): Promise<void>;
  /** Memberships of a person, also inactive ones, by account. */
  membershipsOf(personId: number): Promise<PersonMembership[]>;
}

export function sessionQueries(store: Store): BookSessions {
  const { db } = store;
  return {
    createSession: (session, by, now) =>
      store.transaction((trx) => createSession(store, trx, session, by, now)),

    createCredentialSession: (session, by, now) =>
      store.transaction((trx) => createCredentialSession(trx, session, by, now)),

    async session(secretHash, now) {
      const rows = await db
        .selectFrom('sessions')
        .leftJoin('persons', 'persons.id', 'sessions.person_id')
        .leftJoin('memberships', (join) =>
          join.onRef('memberships.person_id', '=', 'persons.id').on('memberships.is_active', '=', 1),
        )
        .select(['sessions.id', 'sessions.created_at', 'sessions.seen_at', 'key_id', 'credential_hash'])
        .select(['persons.id as person_id', 'email', 'name', 'is_operator', 'last_seen_at'])
        .select('persons.created_at as person_since')
        .select(['account_id', 'role', 'can_create_keys', 'spending_limits'])
        .select('memberships.created_at as member_since')
        .where('secret_hash', '=', secretHash)
        .where('sessions.seen_at', '>', now - IDLE_MS)
        .where('sessions.created_at', '>', now - MOST_MS)
        .where((where) =>
          where.or([where('credential_hash', 'is not', null), where('persons.is_active', '=', 1)]),
        )
        .orderBy('account_id')
        .execute();
      const [first] = rows;
      if (!first) return undefined;
      const {
        id,
        created_at: createdAt,
        seen_at: seenAt,
        key_id: keyId,
        credential_hash: credentialHash,
      } = first;
      if (credentialHash !== null) return { id, createdAt, seenAt, person: undefined, keyId, credentialHash };
      const memberships = rows.flatMap((row) =>
        row.account_id === null
          ? []
          : // The columns of a membership are null together.
            [
              membershipOf({
                ...row,
                is_active: 1,
                created_at: row.member_since,
              } as unknown as MembershipRow),
            ],
      );
      // Without a credential, the session has a person, who was joined.
      const { person_id, email, name, is_operator, person_since } = first as PresentPerson;
      const person = {
        id: person_id,
        email,
        name,
        isOperator: is_operator === 1,
        isActive: true,
        createdAt: person_since,
        lastSeenAt: first.last_seen_at,
      };
      return { id, createdAt, seenAt, person, memberships };
    },

    async noteUse({ id, seenAt, person }, now) {
      if (seenAt > now - NOTED_EVERY_MS) return;
      await db.updateTable('sessions').set({ seen_at: now }).where('id', '=', id).execute();
      if (person) await noteSeen(db, person.id, now);
    },

    async sessions(personId, now) {
      const rows = await db
        .selectFrom('sessions')
        .selectAll()
        .where('person_id', '=', personId)
        .where('seen_at', '>', now - IDLE_MS)
        .where('created_at', '>', now - MOST_MS)
        .orderBy('id', 'desc')
        .execute();
      return rows.map(({ id, created_at, seen_at, ip, user_agent }) => ({
        id,
        createdAt: created_at,
        seenAt: seen_at,
        ip,
        userAgent: user_agent,
      }));
    },

    endSessions: (personId, sessionId, by, now) =>
      store.transaction(async (trx) => {
        let ended = trx.deleteFrom('sessions').where('person_id', '=', personId);
        if (sessionId !== undefined) ended = ended.where('id', '=', sessionId);
        const rows = await ended.returning('id').execute();
        for (const { id } of rows) await auditSession(trx, 'session.end', id, by, now);
        return rows.length;
      }),

    endSession: (sessionId, by, now) =>
      store.transaction(async (trx) => {
        const ended = trx.deleteFrom('sessions').where('id', '=', sessionId).returning('id');
        if (await ended.executeTakeFirst()) await auditSession(trx, 'session.end', sessionId, by, now);
      }),

    async membershipsOf(personId) {
      const rows = await db
        .selectFrom('memberships')
        .innerJoin('accounts', 'accounts.id', 'memberships.account_id')
        .selectAll('memberships')
        .select(sql<string>`coalesce(accounts.name, accounts.email)`.as('account_name'))
        .select(activeKeys)
        .where('memberships.person_id', '=', personId)
        .orderBy('account_id')
        .execute();
      return rows.map((row) => ({
        ...membershipOf(row),
        accountName: row.account_name,
        activeKeys: row.active_keys,
      }));
    },
  };
}

/** BookSessions.createSession in a transaction of the caller. */
export async function createSession(
  store: Store,
  trx: Trx,
  { personId, secretHash, passwordHash, network, userAgent, replaces }: NewSession,
  by: Actor,
  now: number,
): Promise<number | undefined> {
  // Waits for a deactivation under way, which ends the sessions that it finds.
  let active = trx.selectFrom('persons').select('id').where('id', '=', personId).where('is_active', '=', 1);
  if (passwordHash !== undefined) active = active.where('password_hash', '=', passwordHash);
  if (!(await store.lock(active).executeTakeFirst())) return undefined;
  await trx
    .deleteFrom('sessions')
    .where('person_id', '=', personId)
    .where((where) =>
      where.or([where('seen_at', '<=', now - IDLE_MS), where('created_at', '<=', now - MOST_MS)]),
    )
    .execute();
  const { id } = await trx
    .insertInto('sessions')
    .values({
      secret_hash: secretHash,
      person_id: personId,
      created_at: now,
      seen_at: now,
      ip: by.ip,
      user_agent: userAgent,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await trx
    .deleteFrom('known_addresses')
    .where('person_id', '=', personId)
    .where('seen_at', '<', now - KNOWN_MS)
    .execute();
  await trx
    .insertInto('known_addresses')
    .values({ person_id: personId, ip: network, seen_at: now })
    .onConflict((conflict) => conflict.columns(['person_id', 'ip']).doUpdateSet({ seen_at: now }))
    .execute();
  await noteSeen(trx, personId, now);
  await endReplaced(trx, replaces, by, now);
  await auditSession(trx, 'session.create', id, by, now);
  return id;
}

async function createCredentialSession(
  trx: Trx,
  { secretHash, keyId, credentialHash, userAgent, replaces }: NewCredentialSession,
  by: Actor,
  now: number,
): Promise<number> {
  const { id } = await trx
    .insertInto('sessions')
    .values({
      secret_hash: secretHash,
      key_id: keyId,
      credential_hash: credentialHash,
      created_at: now,
      seen_at: now,
      ip: by.ip,
      user_agent: userAgent,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const ofSame =
    keyId === null ? sql<boolean>`person_id is null and key_id is null` : sql<boolean>`key_id = ${keyId}`;
  const newest = trx
    .selectFrom('sessions')
    .select('id')
    .where(ofSame)
    .orderBy('id', 'desc')
    .limit(MOST_OF_CREDENTIAL);
  await trx
    .deleteFrom('sessions')
    .where(ofSame)
    .where((where) =>
      where.or([
        where('seen_at', '<=', now - IDLE_MS),
        where('created_at', '<=', now - MOST_MS),
        where('id', 'not in', newest),
      ]),
    )
    .execute();
  await endReplaced(trx, replaces, by, now);
  await auditSession(trx, 'session.create', id, by, now);
  return id;
}

/** Ends the session that a browser had, whose cookie the new one overwrites. */
async function endReplaced(trx: Trx, secretHash: string | undefined, by: Actor, now: number): Promise<void> {
  if (secretHash === undefined) return;
  const ended = trx.deleteFrom('sessions').where('secret_hash', '=', secretHash).returning('id');
  const session = await ended.executeTakeFirst();
  if (session) await auditSession(trx, 'session.end', session.id, by, now);
}

/** Ends the sessions of keys, in the transaction that deactivates the keys or their account. */
export async function endSessionsOfKeys(
  trx: Trx,
  ids: readonly number[] | Expression<{ id: number }>,
): Promise<void> {
  await trx
    .deleteFrom('sessions')
    .where('key_id', 'in', ids as readonly number[])
    .execute();
}

/** Ends the sessions of a person but one, in the transaction that ends the person's last membership, for example. */
export async function endSessionsOf(trx: Trx, personId: number, keepSession?: number): Promise<void> {
  let ended = trx.deleteFrom('sessions').where('person_id', '=', personId);
  if (keepSession !== undefined) ended = ended.where('id', '<>', keepSession);
  await ended.execute();
}

async function noteSeen(db: Pick<Trx, 'updateTable'>, personId: number, now: number): Promise<void> {
  await db.updateTable('persons').set({ last_seen_at: now }).where('id', '=', personId).execute();
}

async function auditSession(
  trx: Trx,
  action: 'session.create' | 'session.end',
  id: number,
  by: Actor,
  now: number,
): Promise<void> {
  await writeAudit(trx, { by, action, accountId: null, target: { type: 'session', id } }, now);
}
