import { type SqlBool, sql } from 'kysely';
import type { Actor } from '../domain/actor.ts';
import type { KeyRecord } from '../domain/key.ts';
import { emailKey } from '../domain/people.ts';
import { erasedEmail } from './account-erasure.ts';
import { deactivateKeysOf } from './members.ts';
import { auditPerson, isErased, requireOtherOperator } from './persons.ts';
import { endSessionsOf } from './sessions.ts';
import type { Store, Trx } from './store.ts';

/** Erases people. */
export interface BookErasure {
  /**
   * Ends memberships, sessions and keys of a person, and takes names, e-mail addresses and addresses out of every table;
   * ids stay. Resolves with the keys, to be published. Undefined: no such person. Throws LastOperator if `keepOperator`
   * and no other operator is active.
   */
  erasePerson(
    id: number,
    by: Actor,
    now: number,
    keepOperator?: boolean,
  ): Promise<readonly KeyRecord[] | undefined>;
}

/** Entries of the audit log read at once. */
const PAGE = 500;

export function erasureQueries(store: Store): BookErasure {
  return {
    erasePerson: (id, by, now, keepOperator = false) =>
      store.transaction(async (trx) => {
        if (keepOperator) await requireOtherOperator(store, trx, id);
        const person = await store
          .lock(trx.selectFrom('persons').selectAll().where('id', '=', id))
          .executeTakeFirst();
        if (!person || isErased(person)) return undefined;
        const identities = await trx
          .selectFrom('identities')
          .select('email')
          .where('person_id', '=', id)
          .execute();
        const emails = new Set([person.email, ...identities.map(({ email }) => email ?? '')].map(emailKey));
        await endAccess(trx, id);
        const keys = await deactivateKeysOf(trx, { personId: id }, now);
        await findEarlierEmails(trx, id, emails);
        const invitations = await eraseInvitations(trx, id, emails);
        await eraseAudit(trx, { id, name: person.name, invitations }, emails);
        await eraseEmails(trx, emails);
        // `email_key` is unique, and no e-mail address can equal this one.
        const blank = { email: '', email_key: `erased ${id}`, name: '', password_hash: null };
        await trx
          .updateTable('persons')
          .set({ ...blank, is_operator: 0, is_active: 0 })
          .where('id', '=', id)
          .execute();
        await auditPerson(trx, 'person.erase', id, by, now);
        return keys;
      }),
  };
}

async function endAccess(trx: Trx, personId: number): Promise<void> {
  await endSessionsOf(trx, personId);
  for (const table of ['memberships', 'identities', 'one_time_links', 'known_addresses'] as const)
    await trx.deleteFrom(table).where('person_id', '=', personId).execute();
}

/** Takes names and e-mail addresses out of invitations for the person, which end. Resolves with their ids. */
async function eraseInvitations(
  trx: Trx,
  personId: number,
  emails: ReadonlySet<string>,
): Promise<Set<string>> {
  const accepted = await trx
    .selectFrom('audit')
    .select('target_id')
    .where('action', '=', 'invitation.accept')
    .where('actor_type', '=', 'person')
    .where('actor_id', '=', personId)
    .execute();
  const ids = new Set(accepted.map(({ target_id }) => target_id ?? ''));
  const invitations = await trx
    .selectFrom('invitations')
    .select(['id', 'email', 'created_at', 'ended_at'])
    .execute();
  for (const { id, email, created_at, ended_at } of invitations) {
    const isTheirs = ids.has(String(id)) || (email !== null && emails.has(emailKey(email)));
    if (!isTheirs) continue;
    ids.add(String(id));
    const columns = { email: null, name: null, ended_at: ended_at ?? created_at };
    await trx.updateTable('invitations').set(columns).where('id', '=', id).execute();
  }
  return ids;
}

/** Takes the e-mail addresses out of links and accounts. */
async function eraseEmails(trx: Trx, emails: ReadonlySet<string>): Promise<void> {
  const isTheirs = ({ email }: { readonly email: string | null }) =>
    email !== null && emails.has(emailKey(email));
  const links = trx
    .selectFrom('one_time_links')
    .select(['secret_hash', 'email'])
    .where('email', 'is not', null);
  for (const { secret_hash } of (await links.execute()).filter(isTheirs))
    await trx.deleteFrom('one_time_links').where('secret_hash', '=', secret_hash).execute();
  const accounts = await trx
    .selectFrom('accounts')
    .select(['id', 'email'])
    .where('email_key', 'in', [...emails])
    .execute();
  for (const { id } of accounts) {
    const email = erasedEmail(id, 'contact');
    await trx.updateTable('accounts').set({ email, email_key: email }).where('id', '=', id).execute();
  }
}

/** Adds earlier e-mail addresses of a person, which only the audit log has. */
async function findEarlierEmails(trx: Trx, id: number, emails: Set<string>): Promise<void> {
  const aboutThem = trx
    .selectFrom('audit')
    .select(['before', 'after'])
    .where('target_type', '=', 'person')
    .where('target_id', '=', String(id));
  for (const { before, after } of await aboutThem.execute()) {
    for (const { email } of [before, after].map(fieldsOf))
      if (typeof email === 'string') emails.add(emailKey(email));
  }
}

/**
 * Takes a person out of the audit log: the addresses of what they did and of tries to sign in as them; names and e-mail
 * addresses in entries about them and their invitations; in all others, each text that is one of these.
 */
async function eraseAudit(
  trx: Trx,
  {
    id,
    name,
    invitations,
  }: { readonly id: number; readonly name: string; readonly invitations: ReadonlySet<string> },
  emails: ReadonlySet<string>,
): Promise<void> {
  await trx
    .updateTable('audit')
    .set({ ip: null })
    .where((where) =>
      where.or([
        where.and([where('actor_type', '=', 'person'), where('actor_id', '=', id)]),
        where.and([
          where('actor_type', '=', 'system'),
          where('target_type', '=', 'person'),
          where('target_id', '=', String(id)),
        ]),
      ]),
    )
    .execute();
  const patterns = [...[...emails].map(emailPattern), namePattern(name)];
  for (let last = 0; ; ) {
    const rows = await trx
      .selectFrom('audit')
      .select(['id', 'target_type', 'target_id', 'before', 'after'])
      .where('id', '>', last)
      .where((where) => where.or([where('before', 'is not', null), where('after', 'is not', null)]))
      .where((where) =>
        where.or([
          where.and([where('target_type', '=', 'person'), where('target_id', '=', String(id))]),
          where.and([
            where('target_type', '=', 'invitation'),
            where('target_id', 'in', ['', ...invitations]),
          ]),
          ...patterns.flatMap((pattern) => [has('before', pattern), has('after', pattern)]),
        ]),
      )
      .orderBy('id')
      .limit(PAGE)
      .execute();
    for (const { id: entry, target_type, target_id, before, after } of rows) {
      const isAboutThem =
        (target_type === 'person' && target_id === String(id)) ||
        (target_type === 'invitation' && invitations.has(target_id ?? ''));
      const isTheirs = (key: string, value: unknown) =>
        (isAboutThem && (key === 'name' || key === 'email')) ||
        (typeof value === 'string' && (emails.has(emailKey(value)) || (key === 'name' && value === name)));
      const without = (json: string | null) =>
        json && JSON.stringify(JSON.parse(json, (key, value) => (isTheirs(key, value) ? null : value)));
      const erased = { before: without(before), after: without(after) };
      if (erased.before === before && erased.after === after) continue;
      await trx.updateTable('audit').set(erased).where('id', '=', entry).execute();
    }
    if (rows.length < PAGE) return;
    last = rows.at(-1)?.id ?? 0;
  }
}

/** Whether the JSON of a column may contain a pattern, in either case of ASCII letters. */
function has(column: 'before' | 'after', pattern: string) {
  return sql<SqlBool>`lower(${sql.ref(column)}) like ${pattern}`;
}

/**
 * Matches JSON with an e-mail address that has this `emailKey`, and little else: the engines agree on the case of ASCII
 * alone, and not even there on i (Turkish) and k (Kelvin), nor on normal forms.
 */
function emailPattern(key: string): string {
  return `%"${key.replace(/[^a-hjl-z0-9@.+-]+/g, '%')}"%`;
}

/** Matches JSON with this name, and little else. */
function namePattern(name: string): string {
  const text = JSON.stringify(name).slice(1, -1).toLowerCase();
  return `%"name":"${text.replace(/[^a-hjl-z0-9 .-]+/g, '%')}"%`;
}

function fieldsOf(json: string | null): Record<string, unknown> {
  return json === null ? {} : (JSON.parse(json) as Record<string, unknown>);
}
