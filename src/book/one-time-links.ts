import type { Actor } from '../domain/actor.ts';
import { DEMO_EMAIL, emailKey, type Person } from '../domain/people.ts';
import { writeAudit } from './audit.ts';
import { insertMembership } from './membership-row.ts';
import {
  auditPerson,
  emailTaken,
  hasOperator,
  insertPerson,
  isErased,
  lockOperators,
  makePerson,
  type NewPerson,
  type Origin,
  personRecord,
  storePassword,
  uniqueEmail,
} from './persons.ts';
import type { Store, Trx } from './store.ts';

/** The code of a setup. */
export interface SetupCode {
  /** SHA-256 (hex). */
  readonly hash: string;
  /** True: of this process, so valid until an operator exists. False: of the command line, in the book. */
  readonly isOfProcess: boolean;
}

/** Validity of one-time links in milliseconds. */
export const LINK_MS = 24 * 3_600_000;

/** Links that work once: for the first operator, and for a new password. Secrets are passed as their SHA-256 (hex). */
export interface BookLinks {
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
}

export function linkQueries(store: Store): BookLinks {
  const { db } = store;
  return {
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
  };
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
