import { sql } from 'kysely';
import type { Actor } from '../domain/actor.ts';
import type { KeyRecord } from '../domain/key.ts';
import { emailKey, type Person } from '../domain/people.ts';
import { difference, writeAudit } from './audit.ts';
import { deactivateKeysOf } from './members.ts';
import type { PersonRow } from './people-tables.ts';
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

/** People and their passwords. */
export interface BookPersons {
  /** Whether an operator person exists, even an inactive one. */
  hasOperator(): Promise<boolean>;
  person(id: number): Promise<Person | undefined>;
  personByEmail(email: string): Promise<Person | undefined>;
  /** People with ids above `after`, by id ascending; with `search`, those whose name or e-mail address contains it. */
  persons(after: number, limit: number, search?: string): Promise<Person[]>;
  /** The person with an e-mail address; `network` counts as known if it was seen at or after `knownSince`. */
  credentials(email: string, network: string, knownSince: number): Promise<Credentials | undefined>;
  passwordHash(personId: number): Promise<string | null | undefined>;
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

    async persons(after, limit, search) {
      let page = db
        .selectFrom('persons')
        .selectAll()
        .where('id', '>', after)
        .where('email', '!=', '')
        .orderBy('id')
        .limit(limit);
      if (search !== undefined) page = page.where(contains(search));
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
export async function insertPerson(trx: Trx, person: NewPerson, now: number): Promise<Person> {
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

export async function storePassword(
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

/** Decisions about the number of operators are made one at a time: by a lock of the book's only row of `identity`. */
export async function lockOperators(store: Store, trx: Trx): Promise<void> {
  await store.lock(trx.selectFrom('identity').select('id')).execute();
}

export async function hasOperator(db: Pick<Trx, 'selectFrom'>): Promise<boolean> {
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

/** Whether the name or e-mail address of a person contains a text, in any case. */
function contains(search: string) {
  const text = `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`;
  return sql<boolean>`(lower(name) like lower(${text}) escape '\\' or lower(email) like lower(${text}) escape '\\')`;
}

/** The e-mail address is the only unique value that changes of people set. */
export async function uniqueEmail<Result>(written: Promise<Result>): Promise<Result> {
  return written.catch((error: unknown) => {
    throw isUniqueViolation(error) ? emailTaken() : error;
  });
}

export function emailTaken(): PersonEmailTaken {
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
