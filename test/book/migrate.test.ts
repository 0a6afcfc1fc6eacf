import { migrations } from '../../src/book/migrations.ts';
import { openBook } from '../../src/book/open-book.ts';
import { CannotOpenBook } from '../../src/book/store.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, stored } from '../helper/fixtures/book-records.ts';
import { eachNewBook, onNewPostgres } from '../helper/start/books.ts';

const FUTURE = `insert into kysely_migration (name, timestamp) values ('9999_future', '2030-01-01T00:00:00.000Z')`;

eachNewBook(
  'a database of a newer version is refused, in one clear line',
  async (t, book, { run, place }) => {
    await run(FUTURE);
    await book.close();
    for (const readOnly of [false, true]) {
      const error = await rejection(openBook(place, { readOnly }));
      t.type(error, CannotOpenBook);
      t.match(String(error), '9999_future');
      t.notMatch(String(error), '\n');
    }
  },
);

const TABLES = {
  sqlite: "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name",
  postgres: "select tablename as name from pg_tables where schemaname = 'public' order by name",
};

eachNewBook('an empty database gets every table', async (t, _book, { engine, run }) => {
  t.match(await run(TABLES[engine]), [
    { name: 'accounts' },
    { name: 'alerts' },
    { name: 'audit' },
    { name: 'call_messages' },
    { name: 'deliveries' },
    { name: 'gateways' },
    { name: 'grants' },
    { name: 'identities' },
    { name: 'identity' },
    { name: 'invitations' },
    { name: 'keys' },
    { name: 'known_addresses' },
    { name: 'kysely_migration' },
    { name: 'kysely_migration_lock' },
    { name: 'ledger' },
    { name: 'memberships' },
    { name: 'one_time_links' },
    { name: 'persons' },
    { name: 'rates' },
    { name: 'refusals' },
    { name: 'resources' },
    { name: 'sessions' },
    { name: 'spend_days' },
    { name: 'spend_five_hours' },
    { name: 'spend_hours' },
    { name: 'spend_key_months' },
    { name: 'spend_model_days' },
  ]);
});

eachNewBook('opening again migrates nothing and keeps the data', async (t, book, { run, open }) => {
  const { account } = await stored(book);
  const applied = await run('select * from kysely_migration');
  await book.close();
  const again = await open();
  t.same(await again.account(account.id), account);
  t.same(await run('select * from kysely_migration'), applied);
  t.equal(applied.length, Object.keys(migrations('sqlite')).length);
});

eachNewBook(
  'a database that an older version left cannot be read without its migration',
  async (t, book, fixture) => {
    await fixture.run('delete from kysely_migration');
    await book.close();
    t.type(await rejection(openBook(fixture.place, { readOnly: true })), CannotOpenBook);
  },
);

eachNewBook('a read-only book changes nothing', async (t, book, { open }) => {
  const { account, key } = await stored(book);
  const reader = await open({ readOnly: true });
  t.same(await reader.keys(account.id), [key]);
  await t.rejects(reader.updateAccount(account.id, { isActive: false }, NOW));
  await t.rejects(stored(reader));
  t.same(await book.accounts(0, 10), [{ ...account, balance: 0 }]);
});

onNewPostgres('gateways that start together on an empty database all open it', async (t, { open }) => {
  const books = await Promise.all([open(), open(), open(), open()]);
  const made = await Promise.all(books.map((book) => stored(book)));
  t.same(made.map(({ account }) => account.id).sort(), [1, 2, 3, 4]);
});

eachNewBook('a key from before a field has the default of a new key', async (t, book, { run, open }) => {
  const { account, key } = await stored(book);
  await book.close();
  for (const [column, type] of [
    ['allowed_origins', 'text'],
    ['active_hours', 'text'],
    ['rpm_limit', 'bigint'],
  ]) {
    await run(`alter table keys drop column ${column}`);
    await run(`alter table keys add column ${column} ${type}`);
  }
  const defaults = { allowedOrigins: [], activeHours: '', rpmLimit: null };
  t.same(await (await open()).keys(account.id), [{ ...key, ...defaults }]);
});
