import type { Book } from '../../src/book/book.ts';
import type { ProviderSignIn } from '../../src/book/identities.ts';
import { PersonEmailTaken } from '../../src/book/persons.ts';
import { COMMAND_LINE } from '../../src/domain/actor.ts';
import { GatewayError } from '../../src/domain/errors.ts';
import type { Role } from '../../src/domain/roles.ts';
import { NOW, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const FROM = { ip: '203.0.113.7', requestId: 'request' };
const AT_ONCE = 6;

let sessions = 0;
/** A sign-in of a new person by a provider. */
function signInOf(subject: string, more: Partial<ProviderSignIn> = {}): ProviderSignIn {
  const email = `${subject}@example.com`;
  return {
    provider: 'company',
    identity: { issuer: 'https://login.example', subject, email },
    verifiedEmail: email,
    roles: null,
    stranger: { email, name: subject, passwordHash: null, isOperator: false },
    invitation: undefined,
    session: { secretHash: `hash ${sessions++}`, network: 'network', userAgent: null },
    ...more,
  };
}

async function personOf(book: Book, subject: string): Promise<number> {
  const person = await book.personByEmail(`${subject}@example.com`);
  if (!person) throw new Error(`${subject} is nobody`);
  return person.id;
}

/** Signs in at once, several times. Returns the reasons of those that failed. */
async function atOnce(book: Book, signIns: readonly ProviderSignIn[]): Promise<unknown[]> {
  const ended = await Promise.allSettled(signIns.map((one) => book.signInByProvider(one, FROM, NOW)));
  return ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
}

eachBook('of first sign-ins at once, one makes the person', async (t, book) => {
  const failures = await atOnce(
    book,
    Array.from({ length: AT_ONCE }, () => signInOf('ada')),
  );
  for (const failure of failures) t.type(failure, PersonEmailTaken);
  const id = await personOf(book, 'ada');
  t.equal((await book.identities(id)).length, 1);
  t.equal((await book.sessions(id, NOW)).length, AT_ONCE - failures.length);
});

eachBook('a sign-in that fails at its end leaves nothing', async (t, book) => {
  const { account } = await stored(book);
  const first = signInOf('first');
  await book.signInByProvider(first, FROM, NOW);
  const roles = [{ account: account.id, role: 'owner' as const }];
  // The secret of a session is unique.
  await t.rejects(book.signInByProvider(signInOf('ada', { roles, session: first.session }), FROM, NOW));
  t.notOk(await book.personByEmail('ada@example.com'));
  t.same(await book.members(account.id), []);
});

eachBook('of two identities that are unlinked at once, one stays', async (t, book) => {
  await book.signInByProvider(signInOf('ada'), FROM, NOW);
  const id = await personOf(book, 'ada');
  const second = { issuer: 'https://other.example', subject: 'ada', email: null };
  await book.linkIdentity(id, second, COMMAND_LINE, NOW);
  const usable = { passwords: true, provides: () => true };
  const [a, b] = await book.identities(id);
  const unlinked = await Promise.allSettled(
    [a, b].map((one) => book.unlinkIdentity(id, one?.id ?? 0, usable, COMMAND_LINE, NOW)),
  );
  t.same(unlinked.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  t.equal((await book.identities(id)).length, 1);
  const unusable = { passwords: true, provides: (issuer: string) => issuer === 'https://other.example' };
  const [left] = await book.identities(id);
  await t.rejects(book.unlinkIdentity(id, left?.id ?? 0, unusable, COMMAND_LINE, NOW), { code: 'last_way' });
});

eachBook('of two owners whose claims end at once, one stays', async (t, book) => {
  const { account } = await stored(book);
  const claim = (subject: string, role?: Role) =>
    signInOf(subject, { roles: role ? [{ account: account.id, role }] : [] });
  for (const subject of ['ada', 'bob']) await book.signInByProvider(claim(subject, 'owner'), FROM, NOW);
  t.same(await atOnce(book, [claim('ada'), claim('bob', 'viewer')]), []);
  const owners = (await book.members(account.id)).filter(({ role }) => role === 'owner');
  t.equal(owners.length, 1);
});

eachBook('a stranger is refused, and an unknown account skipped', async (t, book) => {
  const stranger = new GatewayError('use_provider', 'refused');
  await t.rejects(book.signInByProvider(signInOf('eve', { stranger }), FROM, NOW), { code: 'use_provider' });
  const roles = [{ account: 999_999, role: 'owner' as const }];
  const { unknownAccounts } = await book.signInByProvider(signInOf('ada', { roles }), FROM, NOW);
  t.same(unknownAccounts, [999_999]);
});
