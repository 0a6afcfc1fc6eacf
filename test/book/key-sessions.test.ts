import type { Book } from '../../src/book/book.ts';
import type { CredentialSession } from '../../src/book/sessions.ts';
import { type Actor, COMMAND_LINE } from '../../src/domain/actor.ts';
import { NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const DAY_MS = 86_400_000;
const FROM = { ip: '203.0.113.7', requestId: 'req_1' };
let serial = 0;

/** Begins a session of a key, or of the operator's token. Resolves with the hash of its secret. */
async function begin(book: Book, keyId: number | null, now = NOW): Promise<string> {
  const secretHash = `key session ${++serial}`;
  const by: Actor =
    keyId === null ? { type: 'operator', id: null, ...FROM } : { type: 'key', id: keyId, ...FROM };
  await book.createCredentialSession({ secretHash, keyId, credentialHash: 'value', userAgent: 'x' }, by, now);
  return secretHash;
}

/** The sessions that have not ended, in order. */
async function open(book: Book, secretHashes: readonly string[], now = NOW): Promise<string[]> {
  const found = await Promise.all(secretHashes.map((hash) => book.session(hash, now)));
  return secretHashes.filter((_, index) => found[index]);
}

eachBook('sessions of keys and of the token are kept, and end after idle days', async (t, book) => {
  const { key } = await stored(book);
  for (const keyId of [key.id, null]) {
    const secret = await begin(book, keyId);
    const session = (await book.session(secret, NOW)) as CredentialSession;
    t.match(session, { keyId, credentialHash: 'value', createdAt: NOW, seenAt: NOW });
    t.equal(session.person, undefined);
    await book.noteUse(session, NOW + 6 * DAY_MS);
    t.same(await open(book, [secret], NOW + 12 * DAY_MS), [secret]);
    t.same(await open(book, [secret], NOW + 13 * DAY_MS), []);
    const by = { type: 'key', id: 1, ...FROM } as const;
    await book.endSession(session.id, by, NOW);
    await book.endSession(session.id, by, NOW);
    t.same(await open(book, [secret]), []);
    const target = { type: 'session', id: String(session.id) };
    const actions = (await book.auditEntries({ limit: 9, target })).map(({ action }) => action);
    t.same(actions, ['session.end', 'session.create'], 'ended once');
  }
});

eachBook('sessions end with the key, or with its account, for good', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey(), NOW);
  const secrets = [await begin(book, key.id), await begin(book, other.id), await begin(book, null)];
  const [first, second, third] = secrets;
  await book.updateKey(account.id, key.id, { name: 'renamed' }, NOW);
  t.same(await open(book, secrets), secrets, 'another change ends nothing');
  await book.updateKey(account.id, key.id, { isActive: false }, NOW);
  await book.updateKey(account.id, key.id, { isActive: true }, NOW);
  t.same(await open(book, secrets), [second, third], String(first));
  await book.updateAccount(account.id, { isActive: false }, NOW);
  await book.updateAccount(account.id, { isActive: true }, NOW);
  t.same(await open(book, secrets), [third]);
});

eachBook('a key has at most 100 sessions, of which the oldest end', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await begin(book, (await book.createKey(account.id, newKey(), NOW)).id);
  const secrets: string[] = [];
  for (let session = 0; session < 102; session++) secrets.push(await begin(book, key.id));
  t.same(await open(book, secrets), secrets.slice(2));
  t.same(await open(book, [other]), [other]);
});

eachBook('an erasure finds the person in any spelling, in entries of others', async (t, book, { run }) => {
  const email = 'IKÖ"n+ig_%@Example.com';
  const created = await book.createPerson(email, 'link', COMMAND_LINE, NOW);
  const person = await book.updatePerson(created.id, { name: 'Ida "K" İß\\' }, COMMAND_LINE, NOW);
  const note = (after: object) =>
    book.audit(
      {
        by: COMMAND_LINE,
        action: 'config.reload',
        accountId: null,
        target: { type: 'config', id: null },
        after,
      },
      NOW,
    );
  await note({ deep: [{ email: email.toLowerCase().normalize('NFD') }] });
  await note({ owner: email.toUpperCase() });
  await note({ name: person?.person.name });
  await note({ name: 'Ida "K"', email: `x${email}` });
  t.ok(await book.erasePerson(created.id, COMMAND_LINE, NOW));
  const entries = (await book.auditEntries({ limit: 5 })).map(({ after }) => after);
  t.same(entries, [
    null,
    { name: 'Ida "K"', email: `x${email}` },
    { name: null },
    { owner: null },
    { deep: [{ email: null }] },
  ]);
  t.match(await run(`select name, email from persons where id = ${created.id}`), [{ name: '', email: '' }]);
});
