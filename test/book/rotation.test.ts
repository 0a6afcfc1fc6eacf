import { VersionConflict } from '../../src/book/key-row.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook } from '../helper/start/books.ts';

const [FIRST, SECOND, THIRD] = ['a1', 'b2', 'c3'].map((two) => two.repeat(32)) as [string, string, string];
const END = NOW + 60_000;

function value(hash: string, previousValidUntil: number | null) {
  return { hash, prefix: `sk-tg-${hash.slice(0, 4)}`, previousValidUntil };
}

eachBook('a rotated key has its new value, and that before until its end', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  const rotated = await book.rotateKey(account.id, key.id, value(SECOND, END), NOW + 1);
  t.same(rotated?.before, key);
  const now = {
    hash: SECOND,
    prefix: 'sk-tg-b2b2',
    previousHash: FIRST,
    previousValidUntil: END,
    version: 2,
  };
  t.same(rotated?.key, { ...key, ...now });
  t.same(await book.keyByHash(FIRST), rotated?.key);
  t.same(await book.keyByHash(SECOND), rotated?.key);
  t.match((await book.unpublished(10)).keys, [{ id: key.id, version: 2 }]);
});

eachBook('a key has two values at most, and without grace one', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  await book.rotateKey(account.id, key.id, value(THIRD, END), NOW);
  t.equal(await book.keyByHash(FIRST), undefined);
  t.match(await book.keyByHash(SECOND), { hash: THIRD, previousHash: SECOND, version: 3 });
  await book.rotateKey(account.id, key.id, value(FIRST, null), NOW);
  t.equal(await book.keyByHash(THIRD), undefined);
  t.match(await book.keyByHash(FIRST), { previousHash: null, previousValidUntil: null, version: 4 });
});

eachBook('the grace of a key is ended, and where it has none its version stays', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  t.match(await book.endGrace(account.id, key.id, NOW), { hash: SECOND, previousHash: null, version: 3 });
  t.equal(await book.keyByHash(FIRST), undefined);
  t.match(await book.endGrace(account.id, key.id, NOW), {
    hash: SECOND,
    previousValidUntil: null,
    version: 3,
  });
  t.match(await book.updateKey(account.id, key.id, { isActive: false }, NOW), { version: 4 });
  t.match(await book.endGrace(account.id, key.id, NOW), { version: 4 });
  t.match(await book.updateKey(account.id, key.id, { isActive: false }, NOW), { version: 4 });
});

eachBook('a grace whose time is over by the clock of Redis has ended already', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  await t.rejects(book.endGrace(account.id, key.id, NOW, 1, END), new VersionConflict(2));
  t.match(await book.endGrace(account.id, key.id, NOW, 2, END), { version: 2, previousHash: null });
  await book.rotateKey(account.id, key.id, value(THIRD, END), NOW);
  t.match(await book.endGrace(account.id, key.id, NOW, 3, END - 1), { version: 4, previousHash: null });
});

eachBook(
  'a grace that is ended while a rotation without grace is not answered yet stays ended after its withdrawal',
  async (t, book) => {
    const { account, key } = await stored(book, { key: { hash: FIRST } });
    await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
    const rotated = await book.rotateKey(account.id, key.id, value(THIRD, null), NOW);
    if (!rotated) throw new Error('not rotated');
    t.match(await book.endGrace(account.id, key.id, NOW), { version: 3 });
    t.match(await book.withdrawRotation(rotated.before, THIRD, NOW), { hash: SECOND, previousHash: null });
  },
);

eachBook('deactivating ends the previous value, and a change of anything else does not', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  const renamed = await book.updateKey(account.id, key.id, { name: 'x' }, NOW);
  t.match(renamed, { previousHash: FIRST, previousValidUntil: END });
  const off = await book.updateKey(account.id, key.id, { isActive: false }, NOW);
  t.match(off, { previousHash: null, previousValidUntil: null, hash: SECOND });
  t.match(await book.updateKey(account.id, key.id, { isActive: true }, NOW), { previousHash: null });
});

eachBook('an inactive key is rotated without grace, and stays inactive', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST, isActive: false } });
  const rotated = await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  t.match(rotated?.key, { isActive: false, hash: SECOND, previousHash: null, previousValidUntil: null });
});

eachBook('another version, an unknown key and the key of another account change nothing', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  const { account: other } = await stored(book);
  const conflict = new VersionConflict(1);
  await t.rejects(book.rotateKey(account.id, key.id, value(SECOND, END), NOW, 2), conflict);
  await t.rejects(book.endGrace(account.id, key.id, NOW, 7), conflict);
  t.equal(await book.rotateKey(other.id, key.id, value(SECOND, END), NOW), undefined);
  t.equal(await book.rotateKey(account.id, 987_654, value(SECOND, END), NOW), undefined);
  t.equal(await book.endGrace(other.id, key.id, NOW), undefined);
  t.same(await book.key(account.id, key.id), key);
});

eachBook(
  'a rotation is withdrawn: the key has the values of before in a further version',
  async (t, book) => {
    const { account, key } = await stored(book, { key: { hash: FIRST } });
    const first = await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
    const second = await book.rotateKey(account.id, key.id, value(THIRD, END + 5), NOW);
    if (!first || !second) throw new Error('not rotated');
    t.same(await book.withdrawRotation(second.before, THIRD, NOW), { ...first.key, version: 4 });
    t.equal(await book.keyByHash(THIRD), undefined);
    t.equal(await book.withdrawRotation(second.before, THIRD, NOW), undefined, 'a repeat does nothing');
    t.match(await book.key(account.id, key.id), { version: 4 });
  },
);

eachBook('a rotation is withdrawn from a key that was changed or deactivated meanwhile', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  const rotated = await book.rotateKey(account.id, key.id, value(THIRD, END), NOW);
  await book.updateKey(account.id, key.id, { name: 'kept', isActive: false }, NOW);
  if (!rotated) throw new Error('not rotated');
  t.match(await book.withdrawRotation(rotated.before, THIRD, NOW), {
    ...{ name: 'kept', isActive: false, hash: SECOND, previousHash: null },
  });
});

eachBook('a withdrawal brings no value back that was ended after the rotation', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  const ends: readonly ((keyId: number) => Promise<unknown>)[] = [
    (keyId) => book.endGrace(account.id, keyId, NOW),
    async (keyId) => {
      await book.updateKey(account.id, keyId, { isActive: false }, NOW);
      await book.updateKey(account.id, keyId, { isActive: true }, NOW);
    },
  ];
  for (const end of ends) {
    await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
    const rotated = await book.rotateKey(account.id, key.id, value(THIRD, END), NOW);
    if (!rotated) throw new Error('not rotated');
    await end(key.id);
    t.match(await book.withdrawRotation(rotated.before, THIRD, NOW), { hash: SECOND, previousHash: null });
    await book.rotateKey(account.id, key.id, value(FIRST, null), NOW);
  }
});

eachBook(
  'a rotation is withdrawn from a key that got another name meanwhile, and its grace goes on',
  async (t, book) => {
    const { account, key } = await stored(book, { key: { hash: FIRST } });
    await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
    const rotated = await book.rotateKey(account.id, key.id, value(THIRD, END + 5), NOW);
    await book.updateKey(account.id, key.id, { name: 'kept' }, NOW);
    if (!rotated) throw new Error('not rotated');
    t.match(await book.withdrawRotation(rotated.before, THIRD, NOW), {
      ...{ name: 'kept', hash: SECOND, previousHash: FIRST, previousValidUntil: END },
    });
  },
);

eachBook('of rotations at once that are built on one version, one is made', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  const made = await Promise.allSettled(
    [SECOND, THIRD].map((hash) => book.rotateKey(account.id, key.id, value(hash, null), NOW, 1)),
  );
  t.same(made.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  t.match(await book.key(account.id, key.id), { version: 2 });
});

eachBook('a snapshot has both values of a key', async (t, book) => {
  const { account, key } = await stored(book, { key: { hash: FIRST } });
  const second = await book.createKey(account.id, newKey(), NOW);
  const rotated = await book.rotateKey(account.id, key.id, value(SECOND, END), NOW);
  const snapshot = await book.snapshot(account.id, { day: 0, week: 0, month: 0 });
  t.same(
    snapshot?.keys.map((state) => state.key),
    [rotated?.key, second],
  );
});

eachBook('an account rotates its keys 60 times a minute', async (t, book) => {
  const { account, key } = await stored(book);
  const other = await book.createKey(account.id, newKey(), NOW);
  const rotate = (serial: number, now: number) =>
    book.rotateKey(
      account.id,
      serial % 2 ? key.id : other.id,
      value(`${serial}`.padStart(64, '0'), null),
      now,
    );
  for (let rotation = 0; rotation < 60; rotation++) await rotate(rotation, NOW + rotation);
  t.match(await rejection(rotate(60, NOW + 60)), { kind: 'rotation', retryAfterMs: 60_000 - 60 });
  t.ok(await rotate(60, NOW + 60_000));
});
