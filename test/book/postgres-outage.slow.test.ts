import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import pg from 'pg';
import { type Test, test } from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import { BookUnavailable, CannotOpenBook } from '../../src/book/store.ts';
import { micro } from '../../src/domain/credits.ts';
import { rejection } from '../helper/check/rejection.ts';
import { entry, hasEntry, stored } from '../helper/fixtures/book-records.ts';
import { onNewPostgres } from '../helper/start/books.ts';
import { startSlowProxy } from '../helper/start/slow-proxy.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

const SECRET = 'hunter2-very-secret';
const dataDir = '/nonexistent';

async function refusal(t: Test, databaseUrl: string, type: typeof BookUnavailable | typeof CannotOpenBook) {
  const error = await rejection(openBook({ databaseUrl, dataDir }));
  t.type(error, type);
  t.notMatch(inspect(error, { depth: 9, showHidden: true }), SECRET, 'no password is shown');
  t.notMatch(String(error), '\n');
  return String(error);
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}

void test('a server that is not there is unavailable, and named without its password', async (t) => {
  const port = await closedPort();
  const message = await refusal(t, `postgres://ada:${SECRET}@127.0.0.1:${port}/credits`, BookUnavailable);
  t.match(message, `127.0.0.1:${port}/credits`);
  t.match(message, 'refused');
});

void test('a host that is not there is unavailable', async (t) => {
  t.match(
    await refusal(t, `postgres://ada:${SECRET}@no-such-host.invalid/x`, BookUnavailable),
    'no-such-host.invalid',
  );
});

void test('an address that is not one of PostgreSQL is refused', async (t) => {
  for (const url of [
    `mysql://ada:${SECRET}@db/x`,
    `ada:${SECRET}@db/x`,
    SECRET,
    '',
    `postgres://a:${SECRET}@h:port/x`,
  ]) {
    t.match(await refusal(t, url, CannotOpenBook), 'postgres://user:password@host:5432/database');
  }
});

onNewPostgres('a wrong password is unavailable, and not shown', async (t, { place }) => {
  const url = (place.databaseUrl ?? '').replace(/:[^:@/]+@/, `:${SECRET}@`);
  t.match(await refusal(t, url, BookUnavailable), 'password authentication failed');
});

onNewPostgres('a database that does not exist is named', async (t, { place }) => {
  t.match(await refusal(t, `${place.databaseUrl}_missing`, BookUnavailable), '_missing');
});

onNewPostgres(
  'connections that the server ends are replaced, and the process lives',
  async (t, { open, run }) => {
    const book = await open();
    const { account } = await stored(book);
    await run(
      'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
    );
    const first = await rejection(book.ping());
    t.ok(
      first === undefined || first instanceof BookUnavailable,
      'one call may still meet the ended connection',
    );
    t.same(await book.account(account.id), account);
  },
);

onNewPostgres(
  'a transaction whose connection ends is unavailable and leaves nothing',
  async (t, { place, open, run }) => {
    const book = await open();
    const { account } = await stored(book);
    const blocker = new pg.Client({ connectionString: place.databaseUrl });
    await blocker.connect();
    await blocker.query('begin; lock table alerts in access exclusive mode');
    const posting = rejection(book.post([entry(account.id, { id: 'lost', threshold: micro(0) })]));
    await terminateWaiting(run);
    t.type(await posting, BookUnavailable);
    await blocker.end();
    t.equal(await hasEntry(book, 'lost'), false);
    t.same((await book.post([entry(account.id, { id: 'lost' })])).results, ['posted']);
  },
);

/** Ends the one connection that waits for a lock, once there is one. */
async function terminateWaiting(run: (sql: string) => Promise<unknown[]>): Promise<void> {
  const ended = () =>
    run(`select pg_terminate_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`);
  while ((await ended()).length === 0);
}

onNewPostgres('a transaction that loses a deadlock is run again', async (t, { place, open, run }) => {
  // The server looks for a deadlock once, this long after a wait began. The cycle must be closed by then.
  await run(
    `alter database "${new URL(place.databaseUrl ?? '').pathname.slice(1)}" set deadlock_timeout = '3s'`,
  );
  const book = await open();
  const { account } = await stored(book);
  const rival = new pg.Client({ connectionString: place.databaseUrl });
  await rival.connect();
  const waiting = () => run("select from pg_locks where not granted and relation = 'alerts'::regclass");
  const lose = async () => {
    await rival.query("set deadlock_timeout = '1min'; begin; lock table alerts in access exclusive mode");
    const posting = book.post([entry(account.id, { threshold: micro(0) })]);
    posting.catch(() => {});
    while ((await waiting()).length === 0);
    await rival.query(`update accounts set updated_at = 0 where id = ${account.id}; commit`);
    return await posting;
  };
  let posted: Awaited<ReturnType<typeof lose>> | undefined;
  // If a busy machine closes the cycle too late, the transaction waits too long for its lock, and the test tries again.
  for (let tries = 1; !posted; tries++) {
    posted = await lose().catch((error) => {
      if (tries < 10 && error instanceof BookUnavailable) return undefined;
      throw error;
    });
  }
  t.same(posted, { results: ['posted'], diverged: [], alerts: 1 });
  await rival.end();
});

onNewPostgres(
  'a row that stays locked is unavailable after 5 s, then works again',
  async (t, { place, open }) => {
    const book = await open();
    const { account } = await stored(book);
    const blocker = new pg.Client({ connectionString: place.databaseUrl });
    await blocker.connect();
    await blocker.query(`begin; select * from accounts where id = ${account.id} for update`);
    const one = entry(account.id);
    t.type(await rejection(book.post([one])), BookUnavailable);
    await blocker.end();
    t.same((await book.post([one])).results, ['posted']);
  },
);

onNewPostgres('a start is refused by a server that does not answer', async (t, { place, open }) => {
  await (await open()).close();
  const blocker = new pg.Client({ connectionString: place.databaseUrl });
  await blocker.connect();
  await blocker.query('begin; lock table kysely_migration in access exclusive mode');
  t.type(await rejection(openBook(place)), BookUnavailable);
  await blocker.end();
});

onNewPostgres('a network that swallows everything is unavailable, then works again', async (t, { place }) => {
  const direct = new URL(place.databaseUrl ?? '');
  const proxy = await startSlowProxy(t, Number(direct.port));
  direct.port = String(proxy.port);
  const book = await openBook({ databaseUrl: direct.href, dataDir });
  t.teardown(() => book.close());
  const { account } = await stored(book);
  proxy.block();
  // One uses the open connection, the other has to open a new one.
  const errors = await Promise.all([rejection(book.ping()), rejection(stored(book))]);
  for (const error of errors) t.type(error, BookUnavailable);
  proxy.unblock();
  t.same(await book.account(account.id), account, 'no call is queued behind the lost ones');
});

onNewPostgres(
  'after one connection has fallen silent no other of that time is trusted',
  async (t, { place }) => {
    const direct = new URL(place.databaseUrl ?? '');
    const proxy = await startTcpProxy(t, Number(direct.port));
    direct.port = String(proxy.port);
    const book = await openBook({ databaseUrl: direct.href, dataDir });
    t.teardown(() => book.close());
    const { account } = await stored(book);
    await Promise.all(Array.from({ length: 4 }, () => book.ping()));
    proxy.loseReplies();
    t.type(await rejection(book.ping()), BookUnavailable);
    t.same(await book.account(account.id), account, 'the next query has a new connection');
  },
);

onNewPostgres(
  'a report waits for a server that takes more than five seconds to connect',
  async (t, { place, open }) => {
    await (await open()).close();
    const direct = new URL(place.databaseUrl ?? '');
    const proxy = await startTcpProxy(t, Number(direct.port));
    direct.port = String(proxy.port);
    // The first message comes after 2.6 s, its answer after 5.2; what follows is not delayed.
    proxy.delay(2_600);
    setTimeout(() => proxy.delay(0), 5_000);
    const book = await openBook({ databaseUrl: direct.href, dataDir }, { readOnly: true });
    t.type(book.id, 'string');
    await book.close();
  },
);
