import type { Book } from '../../src/book/book.ts';
import { LastOperator, PersonEmailTaken } from '../../src/book/persons.ts';
import { type Actor, SYSTEM } from '../../src/domain/actor.ts';
import { micro } from '../../src/domain/credits.ts';
import { DEMO_EMAIL } from '../../src/domain/people.ts';
import { rejection } from '../helper/check/rejection.ts';
import { eachBook } from '../helper/start/books.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const FROM = { ip: '203.0.113.7', requestId: 'req_1' };
const ADA = { email: 'Ada@Example.com', name: 'Ada', passwordHash: 'hash' };
const OF_PROCESS = { hash: 'code', isOfProcess: true };

const actor = (id: number): Actor => ({ type: 'person', id, ...FROM });

async function ada(book: Book): Promise<number> {
  const made = await book.setUp(OF_PROCESS, ADA, FROM, NOW);
  return made?.id ?? Number.NaN;
}

const begin = (book: Book, personId: number, secretHash: string, now: number, passwordHash?: string) =>
  book.createSession(
    { personId, secretHash, network: FROM.ip, userAgent: null, passwordHash },
    actor(personId),
    now,
  );

async function demoAccount(book: Book): Promise<number> {
  const { account } = await book.createAccount(
    { email: DEMO_EMAIL, alertThreshold: micro(0), webhookSecret: 'whsec_x' },
    { ...OPEN_KEY, hash: 'h', prefix: 'p' },
    null,
    NOW,
  );
  return account.id;
}

eachBook('of setups at once one wins, and owns the demo account', async (t, book, { open, engine }) => {
  const accountId = await demoAccount(book);
  // SQLite allows one book at a time.
  const books = engine === 'postgres' ? [book, await open()] : [book, book];
  const made = await Promise.all(
    books.map((one, at) => one.setUp(OF_PROCESS, { ...ADA, email: `ada-${at}@example.com` }, FROM, NOW)),
  );
  const [first] = made.filter((person) => person !== undefined);
  t.equal(made.filter((person) => person !== undefined).length, 1);
  t.equal((await book.persons(0, 10)).length, 1);
  t.match(await book.membershipsOf(first?.id ?? 0), [{ accountId, role: 'owner', accountName: DEMO_EMAIL }]);
});

eachBook('a link of the command line works once, for a day, for its e-mail address', async (t, book) => {
  await book.createSetupLink('ada@example.com', 'link', SYSTEM, NOW);
  const link = { hash: 'link', isOfProcess: false };
  t.equal(await book.setUp(link, { ...ADA, email: 'eve@example.com' }, FROM, NOW), undefined);
  t.equal(await book.setUp(link, ADA, FROM, NOW + DAY_MS), undefined);
  const made = await Promise.all([1, 2].map(() => book.setUp(link, ADA, FROM, NOW + DAY_MS - 1)));
  t.equal(made.filter((person) => person !== undefined).length, 1);
});

eachBook('an e-mail address is unique in NFC and lower case', async (t, book) => {
  await book.createPerson('Ärger@Example.com', 'one', SYSTEM, NOW);
  const other = `${'ä'.normalize('NFD')}rger@example.com`;
  t.type(await rejection(book.createPerson(other, 'two', SYSTEM, NOW)), PersonEmailTaken);
  const { id } = await book.createPerson('other@example.com', 'three', SYSTEM, NOW);
  t.type(await rejection(book.updatePerson(id, { email: other }, SYSTEM, NOW)), PersonEmailTaken);
});

eachBook('sessions end after 7 days without use, and after 30 days', async (t, book) => {
  const id = await ada(book);
  await begin(book, id, 'secret', NOW);
  t.match(await book.session('secret', NOW + 7 * DAY_MS - 1), {
    person: { id, email: ADA.email },
    memberships: [],
  });
  t.equal(await book.session('secret', NOW + 7 * DAY_MS), undefined);
  for (let day = 5; day < 30; day += 5) {
    const session = await book.session('secret', NOW + day * DAY_MS);
    t.ok(session, `day ${day}`);
    if (session) await book.noteUse(session, NOW + day * DAY_MS);
  }
  t.ok(await book.session('secret', NOW + 30 * DAY_MS - 1));
  t.equal(await book.session('secret', NOW + 30 * DAY_MS), undefined);
  t.same(await book.sessions(id, NOW + 30 * DAY_MS), []);
});

eachBook('the use of a session is noted once a minute', async (t, book) => {
  const id = await ada(book);
  await begin(book, id, 'secret', NOW);
  const use = async (now: number) => {
    const session = await book.session('secret', now);
    if (session) await book.noteUse(session, now);
    return (await book.person(id))?.lastSeenAt;
  };
  t.equal(await use(NOW + 59_999), NOW);
  t.equal(await use(NOW + 60_000), NOW + 60_000);
});

eachBook('no session begins with a password that was changed, or after a deactivation', async (t, book) => {
  const id = await ada(book);
  t.ok(await begin(book, id, 'one', NOW, 'hash'));
  await book.setPassword(id, 'another', 0, actor(id), NOW);
  t.equal(await book.session('one', NOW), undefined);
  t.equal(await begin(book, id, 'two', NOW, 'hash'), undefined);
  t.ok(await begin(book, id, 'three', NOW, 'another'));
  await book.updatePerson(id, { isActive: false }, SYSTEM, NOW);
  t.equal(await book.session('three', NOW), undefined);
  t.equal(await begin(book, id, 'four', NOW, 'another'), undefined);
});

eachBook('an address is known for 30 days after a sign-in from it', async (t, book) => {
  const id = await ada(book);
  await begin(book, id, 'secret', NOW);
  const isKnown = async (network: string, since: number) =>
    (await book.credentials('ada@example.com', network, since))?.isKnownNetwork;
  t.equal(await isKnown(FROM.ip, NOW), true);
  t.equal(await isKnown(FROM.ip, NOW + 1), false);
  t.equal(await isKnown('203.0.113.8', NOW), false);
  await begin(book, id, 'later', NOW + 31 * DAY_MS);
  t.equal(await isKnown(FROM.ip, NOW + 31 * DAY_MS), true);
  t.equal(await book.credentials('nobody@example.com', FROM.ip, NOW), undefined);
});

eachBook('every change is an entry of the audit log, without secrets', async (t, book) => {
  const id = await ada(book);
  await begin(book, id, 'secret-hash', NOW);
  await book.updatePerson(id, { name: 'Ada L.', isOperator: true }, actor(id), NOW);
  await book.updatePerson(id, {}, actor(id), NOW);
  await book.createResetLink(id, 'reset-hash', SYSTEM, NOW);
  await book.useResetLink('reset-hash', 'password-hash', FROM, NOW);
  const entries = (await book.auditEntries({ limit: 20 })).reverse();
  t.same(
    entries.map(({ action }) => action),
    ['person.create', 'session.create', 'person.update', 'person.reset', 'person.password'],
  );
  t.same(entries[2]?.after, { name: 'Ada L.' });
  t.notMatch(JSON.stringify(entries), /hash/);
});

eachBook(
  'an erasure takes names, e-mail addresses and addresses out of every table',
  async (t, book, { run }) => {
    const accountId = await demoAccount(book);
    const id = await ada(book);
    await begin(book, id, 'secret', NOW);
    await book.updatePerson(id, { email: 'ada.earlier@example.com' }, actor(id), NOW);
    await book.updatePerson(id, { email: 'ada.now@example.com', name: 'Ada Now' }, actor(id), NOW);
    await book.createSetupLink('ada@example.com', 'link', SYSTEM, NOW);
    const offer = { role: 'member', canCreateKeys: true, spendingLimits: [], secretHash: 'i' } as const;
    const invitation = { ...offer, email: 'ADA.earlier@example.com', name: 'Countess' };
    await book.createInvitation(accountId, invitation, { by: SYSTEM, roles: new Set(['member']) }, NOW);
    const other = await book.createPerson('grace@example.com', 'g', SYSTEM, NOW);
    t.type(await rejection(book.erasePerson(id, SYSTEM, NOW, true)), LastOperator);
    const byToken = { type: 'operator', id: null, ip: '198.51.100.1', requestId: 'r' } as const;
    await book.updatePerson(id, { isOperator: false }, byToken, NOW);
    t.ok(await book.erasePerson(id, SYSTEM, NOW));
    t.equal(await book.erasePerson(id + 100, SYSTEM, NOW), undefined);
    const tables = [];
    for (const table of [
      'persons',
      'memberships',
      'invitations',
      'sessions',
      'one_time_links',
      'known_addresses',
      'audit',
    ])
      tables.push(...(await run(`select * from ${table}`)));
    const text = JSON.stringify(tables);
    t.notMatch(text, /ada|countess|203\.0\.113/i);
    t.match(text, byToken.ip, 'the address of another one stays');
    t.match(text, 'grace@example.com');
    t.equal(await book.person(id), undefined);
    t.equal(await book.updatePerson(id, { isActive: true }, SYSTEM, NOW), undefined, 'it does not come back');
    t.same(await book.membershipsOf(id), []);
    t.ok(await book.erasePerson(other.id, SYSTEM, NOW), 'another one is erased too');
  },
);
