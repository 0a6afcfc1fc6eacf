import { BookReadOnly, CannotOpenBook } from '../../src/book/store.ts';
import { rejection } from '../helper/check/rejection.ts';
import { until } from '../helper/check/until.ts';
import { onNewPostgres } from '../helper/start/books.ts';
import { execute } from '../helper/start/postgres-database.ts';

onNewPostgres('a database that takes no writes was up, and a gateway started on it', async (t, fixture) => {
  const { place, open, run } = fixture;
  const book = await open();
  const name = new URL(place.databaseUrl ?? '').pathname.slice(1);
  const others = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and pid <> pg_backend_pid()`;
  await run(`alter database ${name} set default_transaction_read_only = on`);
  await run(others);
  // Queries first find that their connections are gone.
  const refusal = await until('the database to be found read-only', () =>
    book.ping().then(
      () => undefined,
      (fault: unknown) => (fault instanceof BookReadOnly ? fault : undefined),
    ),
  );
  t.match(String(refusal), 'read-only');
  const error = await rejection(open());
  t.type(error, CannotOpenBook);
  t.match(String(error), /read-only.*DATABASE_URL/);
  await run(`begin read write; alter database ${name} reset default_transaction_read_only; commit`);
  await run(others);
  const isUp = await until('the failover to end', () =>
    book.ping().then(
      () => true,
      () => false,
    ),
  );
  t.ok(isUp, 'without a restart');
});

onNewPostgres('a database that cannot hold every text was taken', async (t, { place, open, run }) => {
  const name = new URL(place.databaseUrl ?? '').pathname.slice(1);
  const admin = new URL(place.databaseUrl ?? '');
  admin.pathname = '/postgres';
  await execute(admin.href, `drop database ${name}`);
  await execute(admin.href, `create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  await run('select 1');
  const error = await rejection(open());
  t.type(error, CannotOpenBook);
  t.match(String(error), /LATIN1.*UTF8/);
});

onNewPostgres(
  'a refusal that names a setting was taken for a late answer',
  async (t, { place, open, run }) => {
    const name = new URL(place.databaseUrl ?? '').pathname.slice(1);
    await run(`alter database ${name} set search_path to nowhere`);
    const error = String(await rejection(open()));
    t.match(error, /no schema has been selected to create in/);
    t.match(error, /create schema/);
    t.notMatch(error, '\n');
  },
);
