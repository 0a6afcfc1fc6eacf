import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type CompiledQuery, type Dialect, Kysely, sql } from 'kysely';
import pg from 'pg';
import type { Test } from 'tap';
import type { Book } from '../../src/book/book.ts';
import { sqlBook } from '../../src/book/open-book.ts';
import { postgresDialect } from '../../src/book/postgres.ts';
import type { BookSchema, Engine } from '../../src/book/schema.ts';
import { openSqlite } from '../../src/book/sqlite.ts';
import { Store } from '../../src/book/store.ts';
import { micro } from '../../src/domain/credits.ts';
import {
  entry,
  NOW,
  newAccount,
  newKey,
  refusedCall,
  stored,
  TODAY,
} from '../helper/fixtures/book-records.ts';
import { type BookFixture, eachNewBook, onNewPostgres } from '../helper/start/books.ts';

const CALL_FILTERS = [
  {},
  { keyId: 1 },
  { model: 'gpt-4o' },
  { endpoint: '/v1/chat/completions' },
  { code: 'insufficient_credits' },
  { result: 'ok' },
  { result: 'refused' },
  { result: 'failed' },
  { outcome: 'timeout' },
] as const;

/** Every query that a serving gateway makes of the book, at least once each. */
async function askEverything(book: Book, accountId: number, keyId: number): Promise<void> {
  await book.ledger({ accountId, limit: 100 });
  await book.ledger({ accountId, limit: 100, before: 50 });
  await book.ledger({ accountId, limit: 100, keyId });
  await book.ledger({ accountId, limit: 100, keyId, before: 50 });
  await book.ledger({ accountId, limit: 100, type: 'top_up' });
  await book.ledger({ accountId, limit: 100, model: 'gpt-4o' });
  await book.charge(accountId, 'none');
  const before = { createdAt: NOW, id: 'none' };
  for (const filter of CALL_FILTERS) {
    await book.calls({ accountId, limit: 51, ...filter });
    await book.calls({ accountId, limit: 51, ...filter, before });
  }
  for (const filter of [{}, { upstream: 'openai' }, { keyId }, { result: 'failed' }] as const) {
    await book.calls({ limit: 51, ...filter, before });
  }
  for (const filter of CALL_FILTERS) await book.summarizeCalls({ accountId, ...filter }, NOW);
  for (const filter of [{}, { keyId }, { personId: 1 }, { upstream: 'openai' }, { from: NOW }])
    await book.summarizeCalls(filter, NOW);
  await book.namesOfKeys([keyId]);
  await book.call(accountId, 'none');
  await book.call(undefined, 'none');
  await book.recordRefusals({ calls: [refusedCall(accountId, keyId)], repeated: [], counts: [] }, 20);
  await book.forgetRecords({ since: NOW - 1, rows: 0, sinceHour: 1 });
  await book.lastCalls(accountId, [keyId]);
  await book.allRefused(accountId, [keyId], NOW - 1);
  await book.receivers(accountId, NOW, 200);
  await book.limitedKeys(accountId, 0);
  await book.limitedKeys(accountId, 0, 1);
  await book.keys(accountId, 0, 10, { personId: 1, search: 'web', isActive: true, expiredAt: NOW });
  await book.personNames([1]);
  await book.ledger({ accountId, limit: 100, fromDay: TODAY - 30, toDay: TODAY });
  await book.entry(accountId, 'none');
  for (const by of ['day', 'key', 'model'] as const) {
    await book.usage(accountId, TODAY - 365, TODAY + 1, by);
    await book.usage(accountId, TODAY - 365, TODAY + 1, by, { keyId });
  }
  // Months plus days, months minus days, and days alone.
  for (const [from, to] of [
    [-340, 0],
    [-353, 12],
    [-3, 1],
  ] as const) {
    await book.usage(accountId, TODAY + from, TODAY + to, 'key');
  }
  for (const by of ['account', 'key', 'model', 'upstream', 'day'] as const) {
    for await (const _ of book.usageOfAll(TODAY - 340, TODAY, by));
  }
  await book.account(accountId);
  await book.accounts(0, 100);
  await book.accounts(0, 100, 'owner');
  await book.accountSums([accountId], NOW);
  for await (const _ of book.allAccountSums(NOW, 'owner'));
  await book.accountsAmong([accountId]);
  await book.refusedRuns(accountId, NOW - 1);
  await book.refusedRuns(accountId, NOW - 1, { keyId, personId: 1 });
  await book.watchedKeys(accountId, { from: NOW, to: NOW + 1 });
  await book.lastDeliveries({ accountId });
  await book.lastDeliveries({ since: NOW });
  await book.providerCalls('openai', NOW);
  await book.keys(accountId);
  await book.key(accountId, keyId);
  await book.keyByHash('none');
  await book.alerts(accountId, 100);
  await book.entriesAmong(['none']);
  await book.recentAccounts(NOW);
  await book.changedSince(NOW);
  await book.anyBlockedCountries();
  await book.unpublished(500);
  await book.pendingGrants(NOW, 100);
  await book.queuedAlerts(100);
  await book.dueAlerts([accountId + 1], 100);
  await book.createTestAlert(accountId, 0, micro(1), NOW);
  await book.resources(accountId, ['openai'], ['resp_1']);
  await book.updateKey(accountId, keyId, { name: 'other' }, NOW);
  await book.updateAccount(accountId, { rpmLimit: 5 }, NOW);
  await book.published({ keys: [{ id: keyId, version: 2 }], accounts: [{ id: accountId, version: 2 }] }, NOW);
  const place = await book.snapshot(accountId, { day: TODAY, week: TODAY - 2, month: TODAY - 17 });
  const next = { keyId, epoch: place?.epoch ?? 0, seq: (place?.seq ?? 0) + 1 };
  await book.post([entry(accountId, { ...next, threshold: micro(0) })]);
  // Posted again, so its id is looked up.
  await book.post([entry(accountId, { ...next })]);
  const [alert = 0] = await book.queuedAlerts(1);
  const claimed = await book.claimAlert(alert, NOW);
  await book.plannedDeliveries(alert, 0);
  const outcome = {
    status: 'delivered',
    httpStatus: 200,
    error: null,
    durationMs: 1,
    attemptedAt: NOW,
  } as const;
  for (const { id } of claimed?.deliveries ?? []) await book.finishDelivery(id, outcome);
}

/** A book that reports every statement it sends, on a migrated database that nothing else has open. */
async function tellingBook(t: Test, { engine, place }: BookFixture, tell: (query: CompiledQuery) => void) {
  const dialect: Dialect =
    engine === 'sqlite'
      ? await openSqlite(place.dataDir, 'own')
      : postgresDialect(place.databaseUrl ?? '', {
          statementTimeoutMs: 5_000,
          readOnly: false,
          maxConnections: 2,
        });
  const db = new Kysely<BookSchema>({ dialect, log: ({ query }) => tell(query) });
  const book = await sqlBook(new Store(db, engine));
  t.teardown(() => book.close());
  return book;
}

/** How the engine would run each statement: its plan, line by line. */
type Explain = (query: CompiledQuery) => Promise<string[]>;

async function explainer(t: Test, { engine, place }: BookFixture): Promise<Explain> {
  if (engine === 'sqlite') {
    const db = new DatabaseSync(join(place.dataDir, 'book.sqlite'), { readOnly: true });
    t.teardown(() => db.close());
    return async ({ sql }) =>
      db
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => String(detail));
  }
  const client = new pg.Client({ connectionString: place.databaseUrl });
  await client.connect();
  t.teardown(() => client.end());
  // Engines scan a small table whatever its indexes. With scans made expensive, only a statement that no index serves
  // still scans.
  await client.query('set enable_seqscan = off');
  return async ({ sql, parameters }) => {
    const { rows } = await client.query(`explain ${sql}`, [...parameters]);
    return rows.map((row) => String(row['QUERY PLAN']));
  };
}

/** Indexes with few rows, by their purpose; `identity` has one row. */
const FEW =
  /\b(identity|keys_unpublished|accounts_unpublished|alerts_queued|alerts_due|grants_pending|keys_country_rule)\b/;
/** Not tables, but rows that the statement brings or has already read. */
const OWN_ROWS =
  /^SCAN (parts|calls|noted|sizes|sums|planned|asked|oldest|latest|recent|ends|\(subquery-\d+\)|CONSTANT|\d+ CONSTANT)/;

function readsWhole(engine: Engine, line: string): boolean {
  const scans = engine === 'sqlite' ? /^SCAN / : /Seq Scan on/;
  return scans.test(line) && !FEW.test(line) && !OWN_ROWS.test(line);
}

eachNewBook('no statement of a gateway that serves reads a table whole', async (t, book, fixture) => {
  const { account, key } = await stored(book, { key: { webhookUrl: 'https://example.com/' } });
  for (let other = 0; other < 3; other++) await book.createAccount(newAccount(), newKey(), null, NOW);
  await book.close();
  const asked = new Map<string, CompiledQuery>();
  const telling = await tellingBook(t, fixture, (query) => asked.set(query.sql, query));
  await askEverything(telling, account.id, key.id);
  const explain = await explainer(t, fixture);
  const statements = [...asked.values()].filter(({ sql }) =>
    /^\s*(select|update|insert|delete|with)/i.test(sql),
  );
  t.ok(statements.length > 25, `${statements.length} statements`);
  for (const query of statements) {
    const plan = await explain(query);
    const whole = plan.filter((line) => readsWhole(fixture.engine, line));
    t.same(whole, [], query.sql.slice(0, 100), { plan });
  }
});

eachNewBook('pages of the ledger come in the order of an index, unsorted', async (t, book, fixture) => {
  const { account, key } = await stored(book);
  await book.post(Array.from({ length: 300 }, (_, at) => entry(account.id, { seq: at + 1, keyId: key.id })));
  await book.close();
  const asked: CompiledQuery[] = [];
  const telling = await tellingBook(t, fixture, (query) => asked.push(query));
  asked.length = 0;
  await telling.ledger({ accountId: account.id, limit: 100, before: 200 });
  await telling.ledger({ accountId: account.id, limit: 100, before: 200, keyId: key.id });
  const explain = await explainer(t, fixture);
  if (fixture.engine === 'postgres') await fixture.run('analyze');
  for (const query of asked) {
    const plan = (await explain(query)).join('\n');
    t.notMatch(plan, /TEMP B-TREE|Sort/);
  }
});

eachNewBook(
  'pages of calls come in the order of an index, whatever they are filtered by',
  async (t, book, fixture) => {
    const { account, key } = await stored(book);
    await book.post(
      Array.from({ length: 2_000 }, (_, at) =>
        entry(account.id, { seq: at + 1, keyId: key.id, createdAt: NOW + at, outcome: 'complete' }),
      ),
    );
    const calls = Array.from({ length: 2_000 }, (_, at) => ({
      ...refusedCall(account.id, key.id),
      createdAt: NOW + at,
    }));
    for (const [at, call] of calls.entries()) call.id = `req_${at}`;
    await book.recordRefusals({ calls, repeated: [], counts: [] }, 2_000);
    await book.close();
    const asked: CompiledQuery[] = [];
    const telling = await tellingBook(t, fixture, (query) => asked.push(query));
    asked.length = 0;
    const before = { createdAt: NOW + 1_500, id: 'req_1500' };
    for (const filter of CALL_FILTERS) {
      const keyId = 'keyId' in filter ? { keyId: key.id } : {};
      await telling.calls({ accountId: account.id, limit: 51, ...filter, ...keyId, before });
    }
    await telling.calls({ limit: 51, before });
    const explain = await explainer(t, fixture);
    if (fixture.engine === 'postgres') await fixture.run('analyze');
    for (const query of asked) {
      const plan = (await explain(query)).join('\n');
      t.match(plan, /ledger_calls|refusals_/, query.sql, { plan });
      // PostgreSQL sorts where it expects a row or two; SQLite sorts calls of one millisecond by their ids.
      t.notMatch(plan, /TEMP B-TREE FOR ORDER BY/, query.sql, { plan });
    }
  },
);

eachNewBook(
  'the latest calls of keys are read from the end of their index, unsorted',
  async (t, book, fixture) => {
    const { account, key } = await stored(book);
    const unused = await book.createKey(account.id, newKey(), NOW);
    await book.post(
      Array.from({ length: 300 }, (_, at) => entry(account.id, { seq: at + 1, keyId: key.id })),
    );
    await book.close();
    const asked: CompiledQuery[] = [];
    const telling = await tellingBook(t, fixture, (query) => asked.push(query));
    asked.length = 0;
    await telling.lastCalls(account.id, [key.id, unused.id]);
    t.equal(asked.length, 1, 'one statement for all of them');
    if (fixture.engine === 'postgres') await fixture.run('analyze');
    const explain = await explainer(t, fixture);
    const plan = (await Promise.all(asked.map(explain))).flat().join('\n');
    t.match(plan, /ledger_key/);
    t.notMatch(plan, /TEMP B-TREE|Sort/);
  },
);

eachNewBook(
  "pages of a type or model that is rare do not read the account's whole ledger",
  async (t, book, fixture) => {
    const { account } = await stored(book);
    await book.post(Array.from({ length: 300 }, (_, at) => entry(account.id, { seq: at + 1 })));
    await book.close();
    const asked: CompiledQuery[] = [];
    const telling = await tellingBook(t, fixture, (query) => asked.push(query));
    asked.length = 0;
    await telling.ledger({ accountId: account.id, limit: 100, type: 'refund' });
    await telling.ledger({ accountId: account.id, limit: 100, model: 'never-called' });
    if (fixture.engine === 'postgres') await fixture.run('analyze');
    const explain = await explainer(t, fixture);
    const plans = [];
    for (const query of asked) plans.push((await explain(query)).join('\n'));
    t.match(plans, [/ledger_type/, /ledger_(?:calls_of_)?model/]);
  },
);

eachNewBook(
  "the operator's usage report goes through accounts by the keys of the sums, and never reads the ledger",
  async (t, book, fixture) => {
    const { account, key } = await stored(book);
    for (let other = 0; other < 50; other++) await book.createAccount(newAccount(), newKey(), null, NOW);
    const made = { keyId: key.id, upstream: 'first' };
    await book.post(
      Array.from({ length: 300 }, (_, at) => entry(account.id, { ...made, seq: at + 1, day: TODAY - at })),
    );
    await book.close();
    const asked: CompiledQuery[] = [];
    const telling = await tellingBook(t, fixture, (query) => asked.push(query));
    if (fixture.engine === 'postgres') await fixture.run('analyze');
    const explain = await explainer(t, fixture);
    for (const by of ['account', 'key', 'model', 'upstream', 'day'] as const) {
      asked.length = 0;
      for await (const _ of telling.usageOfAll(TODAY - 9, TODAY + 1, by));
      const plan = (await Promise.all(asked.map(explain))).flat().join('\n');
      t.notMatch(plan, /ledger/, by);
      t.match(
        plan,
        fixture.engine === 'sqlite' ? /account_id=\? AND day>\?/ : /Index Cond.*account_id.*day/,
        by,
      );
    }
  },
);

/** The plan on such a connection if parallel plans cost nothing. */
async function planOfCount({ place }: BookFixture, readOnly: boolean): Promise<string> {
  const limits = { statementTimeoutMs: 5_000, readOnly, maxConnections: 1 };
  const db = new Kysely<BookSchema>({ dialect: postgresDialect(place.databaseUrl ?? '', limits) });
  try {
    for (const cost of ['parallel_setup_cost', 'parallel_tuple_cost', 'min_parallel_table_scan_size']) {
      await sql.raw(`set ${cost} = 0`).execute(db);
    }
    const { rows } = await sql`explain select count(*) from ledger`.execute(db);
    return JSON.stringify(rows);
  } finally {
    await db.destroy();
  }
}

onNewPostgres('only reports start worker processes of the server', async (t, fixture) => {
  await fixture.open();
  t.notMatch(await planOfCount(fixture, false), /Parallel/);
  t.match(await planOfCount(fixture, true), /Parallel/);
});
