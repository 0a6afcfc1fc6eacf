import { VersionConflict } from '../../src/book/key-row.ts';
import { KeyTooLarge, TooManyKeys } from '../../src/book/keys.ts';
import { micro } from '../../src/domain/credits.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, newKey, stored } from '../helper/fixtures/book-records.ts';
import { eachBook, onPostgres } from '../helper/start/books.ts';

const RESTRICTED = {
  name: 'agent',
  description: 'for "the agent" — 100 %',
  isActive: false,
  canManage: false,
  expiresAt: NOW + 1,
  allowedModels: ['gpt-4o-mini', 'claude'],
  allowedCategories: ['text', 'stt'],
  spendingLimit: micro(9_007_199_254_740_991),
  spendingPeriod: 'weekly',
  rpmLimit: 60,
  tpmLimit: 100_000_000_000,
  maxParallelRequests: 1,
  activeHours: '22:00-06:00',
  allowedIps: ['10.0.0.0/8', '2001:db8::/32'],
  allowedOrigins: ['https://*.example.com'],
  blockedCountries: ['XK', 'DE'],
  webhookUrl: 'https://example.com/hook?a=b',
} as const;

eachBook('every setting of a key comes back as it was stored', async (t, book) => {
  const { account } = await stored(book);
  const key = await book.createKey(account.id, newKey({ ...RESTRICTED, prefix: 'sk-tg-wxyz' }), NOW);
  t.match(key, { ...RESTRICTED, accountId: account.id, prefix: 'sk-tg-wxyz', createdAt: NOW, version: 1 });
  t.same(await book.key(account.id, key.id), key);
});

eachBook('every setting of a key can be changed', async (t, book) => {
  const { account, key } = await stored(book);
  const changed = await book.updateKey(account.id, key.id, RESTRICTED, NOW + 5);
  t.same(changed, { ...key, ...RESTRICTED, version: 2 });
  t.same(await book.key(account.id, key.id), changed);
});

eachBook('a change leaves the other settings as they were', async (t, book) => {
  const { account, key } = await stored(book, { key: RESTRICTED });
  t.same(await book.updateKey(account.id, key.id, { spendingLimit: null, tpmLimit: null }, NOW), {
    ...key,
    spendingLimit: null,
    tpmLimit: null,
    version: 2,
  });
});

eachBook(
  'a change of nothing writes nothing, and is held to the version all the same',
  async (t, book, { run }) => {
    const { account, key } = await stored(book, { key: RESTRICTED });
    const { isActive, canManage, ...others } = RESTRICTED;
    for (const change of [{}, RESTRICTED, others, { isActive }, { canManage }]) {
      t.same(await book.updateKey(account.id, key.id, change, NOW + 5, 1), key);
    }
    const [row] = await run(
      `select version, updated_at from keys where id = ${key.id} and updated_at = ${NOW}`,
    );
    t.match(row, { version: 1 });
    await t.rejects(book.updateKey(account.id, key.id, {}, NOW, 7), new VersionConflict(1));
    for (const [index, change] of [
      { canManage: true },
      { expiresAt: null },
      { allowedModels: [] },
    ].entries()) {
      t.match(await book.updateKey(account.id, key.id, change, NOW), { ...change, version: 2 + index });
    }
  },
);

eachBook('a key is found by its hash', async (t, book) => {
  const hash = 'ab'.repeat(32);
  const { key } = await stored(book, { key: { hash } });
  t.same(await book.keyByHash(hash), key);
  t.equal(await book.keyByHash("' or 1=1 --"), undefined);
});

eachBook('the key of another account does not exist', async (t, book) => {
  const { key } = await stored(book);
  const { account: other } = await stored(book);
  t.equal(await book.key(other.id, key.id), undefined);
  t.equal(await book.updateKey(other.id, key.id, { isActive: false }, NOW), undefined);
  t.equal((await book.key(key.accountId, key.id))?.isActive, true);
});

eachBook('the keys of an account are listed by id, inactive ones too', async (t, book) => {
  const { account, key } = await stored(book);
  await stored(book);
  const second = await book.createKey(account.id, newKey({ isActive: false }), NOW);
  t.same(await book.keys(account.id), [key, second]);
});

eachBook('a key for an unknown account is refused', async (t, book) => {
  await t.rejects(book.createKey(99, newKey(), NOW));
});

eachBook('the id of a key is never given out twice', async (t, book, { run }) => {
  const { account } = await stored(book);
  const last = await book.createKey(account.id, newKey(), NOW);
  await run(`delete from keys where id = ${last.id}`);
  t.ok((await book.createKey(account.id, newKey(), NOW)).id > last.id);
});

eachBook('blocked countries count where an active key has some', async (t, book) => {
  const { account, key } = await stored(book);
  t.equal(await book.anyBlockedCountries(), false);
  await book.updateKey(account.id, key.id, { blockedCountries: ['DE'] }, NOW);
  t.equal(await book.anyBlockedCountries(), true);
  await book.updateKey(account.id, key.id, { isActive: false }, NOW);
  t.equal(await book.anyBlockedCountries(), false);
});

eachBook('concurrent changes of a key all count and none is lost', async (t, book) => {
  const { account, key } = await stored(book);
  const changes = [
    { name: 'a' },
    { description: 'b' },
    { activeHours: '08:00-09:00' },
    { webhookUrl: 'http://c' },
  ];
  await Promise.all(changes.map((change) => book.updateKey(account.id, key.id, change, NOW)));
  t.match(await book.key(account.id, key.id), { ...Object.assign({}, ...changes), version: 5 });
});

eachBook(
  'of two changes built on the same version, one is made and the other changes nothing',
  async (t, book) => {
    const { account, key } = await stored(book);
    const change = (name: string) => book.updateKey(account.id, key.id, { name }, NOW, 1);
    const made = await Promise.allSettled([change('a'), change('b'), change('c')]);
    const won = made.filter((one) => one.status === 'fulfilled');
    t.equal(won.length, 1);
    for (const one of made) if (one.status === 'rejected') t.match(one.reason, { current: 2 });
    t.same(await book.key(account.id, key.id), won[0]?.value);
  },
);

onPostgres(
  'of changes by two gateways at once that are built on the same version, one is made',
  async (t, { open }) => {
    const [one, two] = [await open(), await open()];
    const { account, key } = await stored(one);
    const changes = Array.from({ length: 20 }, (_, index) =>
      (index % 2 ? one : two).updateKey(account.id, key.id, { name: `n${index}` }, NOW, 1),
    );
    const made = await Promise.allSettled(changes);
    t.equal(made.filter(({ status }) => status === 'fulfilled').length, 1);
    t.equal((await one.key(account.id, key.id))?.version, 2);
  },
);

onPostgres('changes of a key by two gateways at once all count', async (t, { open }) => {
  const [one, two] = [await open(), await open()];
  const { account, key } = await stored(one);
  const changes = Array.from({ length: 40 }, (_, index) =>
    (index % 2 ? one : two).updateKey(account.id, key.id, { name: `n${index}` }, NOW),
  );
  const versions = (await Promise.all(changes)).map((changed) => changed?.version ?? 0);
  t.same(
    versions.sort((a, b) => a - b),
    Array.from({ length: 40 }, (_, index) => index + 2),
  );
});

/** A list of models that takes a little more than `bytes` as JSON. */
const models = (bytes: number) =>
  Array.from({ length: bytes / 100 }, (_, index) => `${index}`.padEnd(97, 'm'));

eachBook('no changes at once make the keys of an account larger than they may be', async (t, book) => {
  const { account, key } = await stored(book);
  const bounds = { maxKeys: 100, maxKeyBytes: 200_000 };
  const made = await Promise.allSettled(
    Array.from({ length: 12 }, () =>
      book.createKey(account.id, newKey({ allowedModels: models(20_000) }), NOW, bounds),
    ),
  );
  const refused = made.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  t.equal(refused.length, 3);
  for (const error of refused) t.match(error, { bound: 'maxKeyBytes' });
  const keys = await book.keys(account.id);
  const grown = await Promise.allSettled(
    keys.flatMap(({ id }) => [
      book.updateKey(account.id, id, { allowedOrigins: models(8_000) }, NOW, undefined, bounds.maxKeyBytes),
      book.createKey(account.id, newKey({ allowedModels: models(8_000) }), NOW, bounds),
    ]),
  );
  t.equal(grown.filter(({ status }) => status === 'fulfilled').length, 1, 'one fits into what is left');
  // Above the bound a key may still be changed as long as it does not grow.
  const tighter = (change: Parameters<typeof book.updateKey>[2]) =>
    book.updateKey(account.id, key.id, change, NOW, undefined, 1_000);
  t.match(await tighter({ isActive: false }), { isActive: false });
  await t.rejects(tighter({ description: 'a text' }), new TooManyKeys('maxKeyBytes'));
  t.match(await book.key(account.id, key.id), { description: key.description });
});

eachBook('two changes at once cannot make one key larger than a key may be', async (t, book) => {
  const { account, key } = await stored(book);
  const changes = [{ allowedModels: models(40_000) }, { allowedOrigins: models(40_000) }];
  const answers = await Promise.allSettled(
    changes.map((change) => book.updateKey(account.id, key.id, change, NOW)),
  );
  t.same(answers.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  for (const answer of answers) if (answer.status === 'rejected') t.type(answer.reason, KeyTooLarge);
});

eachBook('a key beyond the largest size can be deactivated and cut down', async (t, book) => {
  const { account } = await stored(book);
  const { id } = await book.createKey(account.id, newKey({ allowedModels: models(90_000) }), NOW);
  t.match(await book.updateKey(account.id, id, { isActive: false }, NOW), { version: 2 });
  t.type(await rejection(book.updateKey(account.id, id, { description: 'more' }, NOW)), KeyTooLarge);
  t.match(await book.updateKey(account.id, id, { allowedModels: models(70_000) }, NOW), { version: 3 });
});
