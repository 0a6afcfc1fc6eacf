import type { Actor } from '../domain/actor.ts';
import type { KeyRecord } from '../domain/key.ts';
import { DEMO_EMAIL, emailKey, type Person } from '../domain/people.ts';
import { difference, writeAudit } from './audit.ts';
import { deactivateKeysOf } from './members.ts';
import { insertMembership } from './membership-row.ts';
import type { PersonRow } from './schema.ts';
import { endSessionsOf } from './sessions.ts';
import { isUniqueViolation, type Store, type Trx } from './store.ts';

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  /** Null: no password, so far. */
  readonly passwordHash: string | null;
  readonly isOperator: boolean;
}

/** Absent fields keep their value. */
export interface PersonChange {
  readonly email?: string;
  readonly name?: string;
  readonly isOperator?: boolean;
  readonly isActive?: boolean;
}

/** What a sign-in compares. */
export interface Credentials {
  readonly person: Person;
  /** Null: the person has no password. */
  readonly passwordHash: string | null;
  /** Whether the person signed in from the network since a time. */
  readonly isKnownNetwork: boolean;
}

/** The code of a setup. */
export interface SetupCode {
  /** SHA-256 (hex). */
  readonly hash: string;
  /** True: of this process, so valid until an operator exists. False: of the command line, in the book. */
  readonly isOfProcess: boolean;
}

/** A changed person, and the keys that the change deactivated, to be published before the answer. */
export interface ChangedPerson {
  readonly person: Person;
  readonly keys: readonly KeyRecord[];
}

/** Where a request comes from whose actor is the person that it makes or changes. */
export type Origin = Pick<Actor, 'ip' | 'requestId'>;

/** Another person has the e-mail address. */
export class PersonEmailTaken extends Error {}
/** The change would leave no active operator. */
export class LastOperator extends Error {}

/** Validity of one-time links in milliseconds. */
export const LINK_MS = 24 * 3_600_000;

/** People, their passwords and one-time links. Secrets are passed as their SHA-256 (hex). */
export interface BookPersons {
  /** Whether an operator person exists, even an inactive one. */
  hasOperator(): Promise<boolean>;
  person(id: number): Promise<Person | undefined>;
  personByEmail(email: string): Promise<Person | undefined>;
  /** People with ids above `after`, by id ascending. */
  persons(after: number, limit: number): Promise<Person[]>;
  /** The person with an e-mail address; `network` counts as known if it was seen at or after `knownSince`. */
  credentials(email: string, network: string, knownSince: number): Promise<Credentials | undefined>;
  passwordHash(personId: number): Promise<string | null | undefined>;
  /** Creates a person without a password and a reset link. Throws PersonEmailTaken. */
  createPerson(email: string, linkHash: string, by: Actor, now: number): Promise<Person>;
  /**
   * Creates an operator, of the first one also the membership as owner of the demo account. Undefined: the code is no
   * longer valid, or is for another e-mail address. Throws PersonEmailTaken.
   */
  setUp(
    code: SetupCode,
    person: Omit<NewPerson, 'isOperator'>,
    from: Origin,
    now: number,
  ): Promise<Person | undefined>;
  /** A setup link for an e-mail address. Throws PersonEmailTaken. */
  createSetupLink(email: string, linkHash: string, by: Actor, now: number): Promise<void>;
  /** Whether a link of this kind exists and has not expired. */
  hasLink(kind: 'reset' | 'setup', linkHash: string, now: number): Promise<boolean>;
  /** A link for a new password. Undefined: no such person. */
  createResetLink(personId: number, linkHash: string, by: Actor, now: number): Promise<Person | undefined>;
  /** Sets the password of a link's person, whose links and sessions end. Undefined: no such link. */
  useResetLink(
    linkHash: string,
    passwordHash: string,
    from: Origin,
    now: number,
  ): Promise<Person | undefined>;
  /** Sets the password, and ends all sessions but one. */
  setPassword(
    personId: number,
    passwordHash: string,
    keepSession: number,
    by: Actor,
    now: number,
  ): Promise<void>;
  /**
   * Changes a person; a deactivated one loses sessions and keys. Undefined: no such person. Throws PersonEmailTaken,
   * and LastOperator if `keepOperator` and the change would leave no active operator.
   */
  updatePerson(
    id: number,
    change: PersonChange,
    by: Actor,
    now: number,
    keepOperator?: boolean,
  ): Promise<ChangedPerson | undefined>;
}

export function personQueries(store: Store): BookPersons {
  const { db } = store;
  return {
    hasOperator: () => hasOperator(db),

    async person(id) {
      const row = await db.selectFrom('persons').selectAll().where('id', '=', id).executeTakeFirst();
      return row && !isErased(row) ? personRecord(row) : undefined;
    },

    async personByEmail(email) {
      const found = db.selectFrom('persons').selectAll().where('email_key', '=', emailKey(email));
      const row = await found.executeTakeFirst();
      return row && personRecord(row);
    },

    async persons(after, limit) {
      const page = db
        .selectFrom('persons')
        .selectAll()
        .where('id', '>', after)
        .where('email', '!=', '')
        .orderBy('id')
        .limit(limit);
      return (await page.execute()).map(personRecord);
    },

    async credentials(email, network, knownSince) {
      const row = await db
        .selectFrom('persons')
        .leftJoin('known_addresses', (join) =>
          join
            .onRef('known_addresses.person_id', '=', 'persons.id')
            .on('known_addresses.ip', '=', network)
            .on('known_addresses.seen_at', '>=', knownSince),
        )
        .selectAll('persons')
        .select('known_addresses.seen_at as known_at')
        .where('email_key', '=', emailKey(email))
        .executeTakeFirst();
      return (
        row && {
          person: personRecord(row),
          passwordHash: row.password_hash,
          isKnownNetwork: row.known_at !== null,
        }
      );
    },

    async passwordHash(personId) {
      const found = db.selectFrom('persons').select('password_hash').where('id', '=', personId);
      return (await found.executeTakeFirst())?.password_hash;
    },

    createPerson: (email, linkHash, by, now) =>
      uniqueEmail(
        store.transaction(async (trx) => {
          const wanted = { email, name: '', passwordHash: null, isOperator: false };
          const person = await insertPerson(trx, wanted, now);
          await auditPerson(trx, 'person.create', person.id, by, now, { after: { email } });
          await insertLink(trx, { kind: 'reset', hash: linkHash, personId: person.id }, now);
          return person;
        }),
      ),

    setUp: (code, person, from, now) =>
      uniqueEmail(store.transaction((trx) => setUp(store, trx, code, person, from, now))),

    createSetupLink: (email, linkHash, by, now) =>
      store.transaction(async (trx) => {
        const taken = trx.selectFrom('persons').select('id').where('email_key', '=', emailKey(email));
        if (await taken.executeTakeFirst()) throw emailTaken();
        await insertLink(trx, { kind: 'setup', hash: linkHash, email }, now);
        await auditPerson(trx, 'person.setup', null, by, now, { after: { email } });
      }),

    async hasLink(kind, linkHash, now) {
      const found = db.selectFrom('one_time_links').select('kind').where('secret_hash', '=', linkHash);
      return (
        (await found.where('kind', '=', kind).where('expires_at', '>', now).executeTakeFirst()) !== undefined
      );
    },

    createResetLink: (personId, linkHash, by, now) =>
      store.transaction(async (trx) => {
        const row = await trx.selectFrom('persons').selectAll().where('id', '=', personId).executeTakeFirst();
        if (!row || isErased(row)) return undefined;
        await insertLink(trx, { kind: 'reset', hash: linkHash, personId }, now);
        await auditPerson(trx, 'person.reset', personId, by, now);
        return personRecord(row);
      }),

    useResetLink: (linkHash, passwordHash, { ip, requestId }, now) =>
      store.transaction(async (trx) => {
        const used = await trx
          .deleteFrom('one_time_links')
          .where('secret_hash', '=', linkHash)
          .where('kind', '=', 'reset')
          .where('expires_at', '>', now)
          .returning('person_id')
          .executeTakeFirst();
        const personId = used?.person_id;
        if (typeof personId !== 'number') return undefined;
        const by: Actor = { type: 'person', id: personId, ip, requestId };
        return personRecord(await storePassword(trx, personId, passwordHash, undefined, by, now));
      }),

    setPassword: (personId, passwordHash, keepSession, by, now) =>
      store.transaction(async (trx) => {
        await storePassword(trx, personId, passwordHash, keepSession, by, now);
      }),

    updatePerson: (id, change, by, now, keepOperator = false) =>
      uniqueEmail(
        store.transaction((trx) => updatePerson(store, trx, { id, change, by, now, keepOperator })),
      ),
  };
}

/** Inserts a person; the caller writes the audit entry. Throws PersonEmailTaken. */
async function insertPerson(trx: Trx, person: NewPerson, now: number): Promise<Person> {
  const row = await trx
    .insertInto('persons')
    .values({
      email: person.email,
      email_key: emailKey(person.email),
      name: person.name,
      password_hash: person.passwordHash,
      is_operator: Number(person.isOperator),
      is_active: 1,
      created_at: now,
      last_seen_at: null,
    })
    .onConflict((conflict) => conflict.column('email_key').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (!row) throw emailTaken();
  return personRecord(row);
}

/** Inserts a person who makes themselves, with the audit entry. Throws PersonEmailTaken. */
export async function makePerson(trx: Trx, person: NewPerson, from: Origin, now: number): Promise<Person> {
  const made = await insertPerson(trx, person, now);
  const { id, email, name, isOperator } = made;
  const by: Actor = { type: 'person', id, ...from };
  const after = { email, name, ...(isOperator ? { is_operator: true } : {}) };
  await auditPerson(trx, 'person.create', id, by, now, { after });
  return made;
}

async function setUp(
  store: Store,
  trx: Trx,
  { hash, isOfProcess }: SetupCode,
  person: Omit<NewPerson, 'isOperator'>,
  from: Origin,
  now: number,
): Promise<Person | undefined> {
  await lockOperators(store, trx);
  const isFirst = !(await hasOperator(trx));
  if (isOfProcess) {
    if (!isFirst) return undefined;
  } else {
    const link = trx
      .selectFrom('one_time_links')
      .select('email')
      .where('secret_hash', '=', hash)
      .where('kind', '=', 'setup')
      .where('expires_at', '>', now);
    const email = (await link.executeTakeFirst())?.email;
    if (typeof email !== 'string' || emailKey(email) !== emailKey(person.email)) return undefined;
    await trx.deleteFrom('one_time_links').where('secret_hash', '=', hash).execute();
  }
  const made = await makePerson(trx, { ...person, isOperator: true }, from, now);
  if (isFirst) await ownDemoAccount(trx, made.id, { type: 'person', id: made.id, ...from }, now);
  return made;
}

async function ownDemoAccount(trx: Trx, personId: number, by: Actor, now: number): Promise<void> {
  const demo = trx.selectFrom('accounts').select('id').where('email_key', '=', emailKey(DEMO_EMAIL));
  const accountId = (await demo.executeTakeFirst())?.id;
  if (accountId === undefined) return;
  const membership = {
    account_id: accountId,
    person_id: personId,
    role: 'owner',
    can_create_keys: 1,
    spending_limits: '[]',
    issuer: null,
  } as const;
  await insertMembership(trx, membership, now);
  const target = { type: 'member', id: personId } as const;
  await writeAudit(trx, { by, action: 'member.add', accountId, target, after: { role: 'owner' } }, now);
}

async function updatePerson(
  store: Store,
  trx: Trx,
  given: { id: number; change: PersonChange; by: Actor; now: number; keepOperator: boolean },
): Promise<ChangedPerson | undefined> {
  const { id, change, by, now, keepOperator } = given;
  if (keepOperator) await lockOperators(store, trx);
  const row = await store.lock(trx.selectFrom('persons').selectAll().where('id', '=', id)).executeTakeFirst();
  if (!row || isErased(row)) return undefined;
  const before = personRecord(row);
  const after: Person = { ...before, ...change };
  if (keepOperator && isServing(before) && !isServing(after) && !(await hasOtherOperator(trx, id)))
    throw new LastOperator('No other operator is active.');
  const changed = difference(audited(before), audited(after));
  if (Object.keys(changed.after).length === 0) return { person: before, keys: [] };
  await trx
    .updateTable('persons')
    .set({
      email: after.email,
      email_key: emailKey(after.email),
      name: after.name,
      is_operator: Number(after.isOperator),
      is_active: Number(after.isActive),
    })
    .where('id', '=', id)
    .execute();
  const hasEnded = before.isActive && !after.isActive;
  if (hasEnded) await endSessionsOf(trx, id);
  const keys = hasEnded ? await deactivateKeysOf(trx, { personId: id }, now) : [];
  await auditPerson(trx, 'person.update', id, by, now, changed);
  return { person: after, keys };
}

const isServing = ({ isOperator, isActive }: Person) => isOperator && isActive;

function audited({ email, name, isOperator, isActive }: Person) {
  return { email, name, is_operator: isOperator, is_active: isActive };
}

async function storePassword(
  trx: Trx,
  personId: number,
  passwordHash: string,
  keepSession: number | undefined,
  by: Actor,
  now: number,
): Promise<PersonRow> {
  const row = await trx
    .updateTable('persons')
    .set({ password_hash: passwordHash })
    .where('id', '=', personId)
    .returningAll()
    .executeTakeFirstOrThrow();
  await trx.deleteFrom('one_time_links').where('person_id', '=', personId).execute();
  await endSessionsOf(trx, personId, keepSession);
  await auditPerson(trx, 'person.password', personId, by, now);
  return row;
}

/** Inserts a link, and removes all that have expired. */
async function insertLink(
  trx: Trx,
  link: { kind: 'reset' | 'setup'; hash: string; personId?: number; email?: string },
  now: number,
): Promise<void> {
  await trx.deleteFrom('one_time_links').where('expires_at', '<=', now).execute();
  await trx
    .insertInto('one_time_links')
    .values({
      secret_hash: link.hash,
      kind: link.kind,
      person_id: link.personId ?? null,
      email: link.email ?? null,
      expires_at: now + LINK_MS,
    })
    .execute();
}

/** Decisions about the number of operators are made one at a time: by a lock of the book's only row of `identity`. */
async function lockOperators(store: Store, trx: Trx): Promise<void> {
  await store.lock(trx.selectFrom('identity').select('id')).execute();
}

async function hasOperator(db: Pick<Trx, 'selectFrom'>): Promise<boolean> {
  const any = db.selectFrom('persons').select('id').where('is_operator', '=', 1).limit(1);
  return (await any.executeTakeFirst()) !== undefined;
}

/** Throws LastOperator if the person is the only active operator, which stays so until the commit of `trx`. */
export async function requireOtherOperator(store: Store, trx: Trx, id: number): Promise<void> {
  await lockOperators(store, trx);
  const row = await trx.selectFrom('persons').selectAll().where('id', '=', id).executeTakeFirst();
  if (row && isServing(personRecord(row)) && !(await hasOtherOperator(trx, id)))
    throw new LastOperator('No other operator is active.');
}

/** Whether only the id of a person is left. */
export function isErased({ email }: Pick<PersonRow, 'email'>): boolean {
  return email === '';
}

async function hasOtherOperator(trx: Trx, id: number): Promise<boolean> {
  const serving = trx
    .selectFrom('persons')
    .select('id')
    .where('is_operator', '=', 1)
    .where('is_active', '=', 1);
  return (await serving.where('id', '<>', id).limit(1).executeTakeFirst()) !== undefined;
}

type PersonAction = 'create' | 'setup' | 'update' | 'password' | 'reset' | 'erase';

/** Writes an entry about a person; it is of no account. */
export async function auditPerson(
  trx: Trx,
  action: `person.${PersonAction}`,
  id: number | null,
  by: Actor,
  now: number,
  fields: { readonly before?: object; readonly after?: object } = {},
): Promise<void> {
  await writeAudit(trx, { by, action, accountId: null, target: { type: 'person', id }, ...fields }, now);
}

/** The e-mail address is the only unique value that changes of people set. */
async function uniqueEmail<Result>(written: Promise<Result>): Promise<Result> {
  return written.catch((error: unknown) => {
    throw isUniqueViolation(error) ? emailTaken() : error;
  });
}

function emailTaken(): PersonEmailTaken {
  return new PersonEmailTaken('Another person has this e-mail address.');
}

export function personRecord(row: PersonRow): Person {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    isOperator: row.is_operator === 1,
    isActive: row.is_active === 1,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at,
  };
}
