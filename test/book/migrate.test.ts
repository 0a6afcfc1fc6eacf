import type { Book } from '../../src/book/book.ts';
import { CannotOpenBook } from '../../src/book/errors.ts';
import { migrations } from '../../src/book/migrations.ts';
import { openBook } from '../../src/book/open-book.ts';
import { entry, NOW, stored, TODAY } from '../helper/book-records.ts';
import { eachBook, onPostgres } from '../helper/books.ts';
import { rejection } from '../helper/rejection.ts';

/** Takes the schema back to what it was before the migration 0005_sums. */
const BEFORE_SUMS = [
  'drop index alerts_due',
  'drop index alerts_tests',
  'drop table spend_model_days',
  'drop table spend_key_months',
  'drop index keys_updated',
  'drop index accounts_updated',
  'drop index keys_country_rule',
  'drop index accounts_last_entry',
  'drop index ledger_type',
  'drop index ledger_model',
  'alter table accounts drop column last_entry_hour',
  'alter table ledger drop column call',
  ...[
    'cache_write_1h',
    'input_audio',
    'cached_input_audio',
    'output_audio',
    'input_image',
    'cached_input_image',
    'output_image',
    'web_searches',
    'cost',
    'costed',
  ].map((column) => `alter table spend_days drop column ${column}`),
  "delete from kysely_migration where name >= '0005_sums'",
];
const FUTURE = `insert into kysely_migration (name, timestamp) values ('9999_future', '2030-01-01T00:00:00.000Z')`;

eachBook('a database of a newer version is refused, in one clear line', async (t, book, { run, place }) => {
  await run(FUTURE);
  await book.close();
  for (const readOnly of [false, true]) {
    const error = await rejection(openBook(place, { readOnly }));
    t.type(error, CannotOpenBook);
    t.match(String(error), '9999_future');
    t.notMatch(String(error), '\n');
  }
});

eachBook('opening again migrates nothing and keeps the data', async (t, book, { run, open }) => {
  const { account } = await stored(book);
  const applied = await run('select * from kysely_migration');
  await book.close();
  const again = await open();
  t.same(await again.account(account.id), account);
  t.same(await run('select * from kysely_migration'), applied);
  t.equal(applied.length, Object.keys(migrations('sqlite')).length);
});

eachBook(
  'a database that an older version left cannot be read without its migration',
  async (t, book, fixture) => {
    await fixture.run('delete from kysely_migration');
    await book.close();
    t.type(await rejection(openBook(fixture.place, { readOnly: true })), CannotOpenBook);
  },
);

eachBook('a read-only book changes nothing', async (t, book, { open }) => {
  const { account, key } = await stored(book);
  const reader = await open({ readOnly: true });
  t.same(await reader.keys(account.id), [key]);
  await t.rejects(reader.updateAccount(account.id, { isActive: false }, NOW));
  await t.rejects(stored(reader));
  t.same(await book.accounts(0, 10), [{ ...account, balance: 0 }]);
});

onPostgres('gateways that start together on an empty database all open it', async (t, { open }) => {
  const books = await Promise.all([open(), open(), open(), open()]);
  const made = await Promise.all(books.map((book) => stored(book)));
  t.same(made.map(({ account }) => account.id).sort(), [1, 2, 3, 4]);
});

eachBook(
  'what an older version has summed by day is summed by model and by month',
  async (t, book, fixture) => {
    const { account, key } = await stored(book);
    const days = [TODAY, TODAY, TODAY - 1, TODAY - 17, TODAY - 18, TODAY - 40];
    await book.post(
      days.map((day, index) =>
        entry(account.id, {
          seq: index + 1,
          keyId: key.id,
          day,
          model: `m${index % 2}`,
          usage: { input: 3 },
        }),
      ),
    );
    const read = async (from: Book) => [
      await from.usage(account.id, TODAY - 60, TODAY + 1, 'day'),
      await from.usage(account.id, TODAY - 60, TODAY + 1, 'key'),
      await from.usage(account.id, TODAY - 60, TODAY + 1, 'model'),
      await from.recentAccounts(NOW),
    ];
    const before = await read(book);
    await book.close();
    for (const undo of BEFORE_SUMS) await fixture.run(undo);
    t.same(await read(await fixture.open()), before);
  },
);
