import { Kysely } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Test } from 'tap';
import { migrations, openBook } from '../../src/book/open-book.ts';
import { postgresDialect } from '../../src/book/postgres.ts';
import { openSqlite } from '../../src/book/sqlite.ts';
import { CannotOpenBook } from '../../src/book/store.ts';
import { rejection } from '../helper/check/rejection.ts';
import { NOW, stored, TODAY } from '../helper/fixtures/book-records.ts';
import { type BookFixture, eachNewBook, onNewPostgres, onNewSqlite } from '../helper/start/books.ts';

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
    { name: 'call_messages' },
    { name: 'deliveries' },
    { name: 'gateways' },
    { name: 'grants' },
    { name: 'identity' },
    { name: 'keys' },
    { name: 'kysely_migration' },
    { name: 'kysely_migration_lock' },
    { name: 'ledger' },
    { name: 'rates' },
    { name: 'refusals' },
    { name: 'resources' },
    { name: 'spend_days' },
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

/** Makes the tables of the first schema alone. */
async function firstSchema({ engine, place }: BookFixture): Promise<void> {
  const limits = { statementTimeoutMs: 5_000, readOnly: false, maxConnections: 1 };
  const dialect =
    engine === 'sqlite'
      ? await openSqlite(place.dataDir, false)
      : postgresDialect(place.databaseUrl ?? '', limits);
  const db = new Kysely<unknown>({ dialect });
  const all = migrations(engine);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => all } });
  const { error } = await migrator.migrateTo('0001_initial');
  await db.destroy();
  if (error) throw error;
}

async function keepsItsCalls(t: Test, fixture: BookFixture): Promise<void> {
  await firstSchema(fixture);
  await fixture.run(
    'insert into accounts (email, email_key, alert_threshold, is_active, webhook_secret, created_at, updated_at)' +
      ` values ('a@example.com', 'a@example.com', 0, 1, 'whsec_dGVzdA==', ${NOW}, ${NOW})`,
  );
  const call = JSON.stringify({ price: { input: 1 }, upstream: 'openai', durationMs: 400, streamed: true });
  const entry = (seq: number, type: string, of: string | null) =>
    fixture.run(
      'insert into ledger (account_id, seq, id, epoch, type, created_at, day, key_id, model, outcome, usage, estimated, credits,' +
        ` balance_after, call) values (1, ${seq}, 'entry-${seq}', 0, '${type}', ${NOW}, ${TODAY}, 1, 'a', 'complete', '{}', 0, 0, 0,` +
        ` ${of === null ? 'null' : `'${of}'`})`,
    );
  await entry(1, 'top_up', null);
  await entry(2, 'charge', call);
  await entry(3, 'refund', call);
  await entry(4, 'expired_hold', null);
  const book = await fixture.open();
  t.match(await book.calls({ accountId: 1, limit: 10 }), [
    { id: 'entry-4', createdAt: NOW },
    { id: 'entry-2', createdAt: NOW - 400, entry: { upstream: 'openai', durationMs: 400, streamed: true } },
  ]);
  t.equal((await book.calls({ upstream: 'openai', limit: 10 })).length, 1);
  t.match(await book.entry(1, 'entry-3'), { upstream: 'openai' });
}

onNewSqlite('a book of the first schema keeps its calls', keepsItsCalls);
onNewPostgres('a book of the first schema keeps its calls', keepsItsCalls);

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
