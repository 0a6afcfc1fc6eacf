import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Test, test } from 'tap';
import { makeAccounts } from '../../bench/accounts.ts';
import { checkBook } from '../../bench/check.ts';
import { createDatabase, execute } from '../helper/start/postgres-database.ts';

const CREDIT = 1_000_000;

interface Fixture {
  /** Runs SQL on the book. */
  run(sql: string): Promise<unknown>;
  /** The names of the checks that fail if the upstream saw this many calls. */
  broken(upstreamCalls: number): Promise<string[]>;
}

/** A book with one account of 10 credits, an alert threshold of 5 and a key limited to 8, that made two calls of 3. */
async function bookOfTwoCalls(t: Test, databaseUrl?: string): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-check-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const place = { folder, dataDir: folder, ...(databaseUrl === undefined ? {} : { databaseUrl }) };
  await makeAccounts(place, { accounts: 1, keysEach: 1, restricted: true });
  const run = async (sql: string): Promise<unknown> => {
    if (databaseUrl !== undefined) return execute(databaseUrl, sql);
    const db = new DatabaseSync(join(folder, 'book.sqlite'));
    try {
      return db.exec(sql);
    } finally {
      db.close();
    }
  };
  const entry = (seq: number, type: string, credits: number, after: number) =>
    `insert into ledger (account_id, seq, id, epoch, type, created_at, day, key_id, usage, estimated, credits, balance_after)
     values (1, ${seq}, 'entry_${seq}', 1, '${type}', 0, 0, ${type === 'charge' ? 1 : 'null'}, '{}', 0,
       ${credits * CREDIT}, ${after * CREDIT})`;
  for (const sql of [
    entry(1, 'top_up', 10, 10),
    entry(2, 'charge', -3, 7),
    entry(3, 'charge', -3, 4),
    `update accounts set balance = ${4 * CREDIT}, alert_threshold = ${5 * CREDIT}`,
    `update keys set spending_limit = ${8 * CREDIT}`,
    `insert into alerts (account_id, entry_id, created_at, credits_balance, test, state)
     values (1, 'entry_3', 0, ${4 * CREDIT}, 0, 'queued')`,
  ]) {
    await run(sql);
  }
  return {
    run,
    async broken(upstreamCalls) {
      const checks = await checkBook(place, upstreamCalls);
      return checks.filter(({ holds }) => !holds).map(({ name }) => name);
    },
  };
}

test('a correct book passes', async (t) => {
  const { broken } = await bookOfTwoCalls(t);
  t.same(await broken(2), []);
});

test('the same on PostgreSQL', async (t) => {
  const { run, broken } = await bookOfTwoCalls(t, await createDatabase());
  t.same(await broken(2), []);
  await run('update accounts set balance = balance + 1');
  t.same(await broken(2), ['1 ledger = balance']);
});

for (const [what, sql, name] of [
  ['a balance that is a micro-credit off', 'update accounts set balance = balance - 1', '1 ledger = balance'],
  [
    'a balance that was below 0 for a moment',
    'update ledger set balance_after = -1 where seq = 1',
    '2 nothing overspent',
  ],
  ['a key above its limit', `update keys set spending_limit = ${6 * CREDIT - 1}`, '2 nothing overspent'],
  ['a crossing without an alert', 'delete from alerts', '4 one alert a crossing'],
] as const) {
  test(`${what} is found`, async (t) => {
    const { run, broken } = await bookOfTwoCalls(t);
    await run(sql);
    t.same(await broken(2), [name]);
  });
}

test('a call without a row, and a row without a call, are found', async (t) => {
  const { broken } = await bookOfTwoCalls(t);
  t.same(await broken(3), ['3 one row a call']);
  t.same(await broken(1), ['3 one row a call']);
});
