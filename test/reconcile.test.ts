import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import { accountRedisKey } from '../src/ledger/redis/redis-keys.ts';
import { socketPathFor } from '../src/redis-server/socket.ts';
import { until } from './helper/check/until.ts';
import { makeOwner, type Owner } from './helper/clients/owner.ts';
import { tollgate } from './helper/start/command.ts';
import { startOwnGateway } from './helper/start/gateway-in-process.ts';
import { makePlace, type Place } from './helper/start/gateway-process.ts';

const reconcile = ({ env }: Place) => tollgate(['reconcile'], env);

async function makeWorld(t: Test) {
  const place = makePlace(t, 'http://127.0.0.1:1');
  const gateway = await startOwnGateway(t, { dataDir: place.dataDir });
  const owner = await makeOwner(gateway, 100);
  await (await gateway.chat(owner.key)).text();
  await inBook(place, owner, 2);
  return { place, gateway, owner };
}

/** Behind the gateway's back. */
function inSqlite<T>({ dataDir }: Place, run: (book: DatabaseSync) => T): T {
  const book = new DatabaseSync(join(dataDir, 'book.sqlite'), { timeout: 5_000 });
  try {
    return run(book);
  } finally {
    book.close();
  }
}

async function inBook(place: Place, { accountId }: Owner, entries: number): Promise<void> {
  const sql = 'select count(*) as count from ledger where account_id = ?';
  const count = () => inSqlite(place, (book) => book.prepare(sql).get(accountId)?.count);
  await until('the ledger to be in the book', () => count() === entries);
}

function change(place: Place, sql: string): void {
  inSqlite(place, (book) => book.exec(sql));
}

test('a sound ledger is proved, beside a gateway that goes on charging', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  let stop = false;
  const traffic = (async () => {
    while (!stop) await (await gateway.chat(owner.key)).text();
  })();
  const { code, output, errors } = await reconcile(place);
  stop = true;
  await traffic;
  t.equal(output, 'accounts checked: 1, differences: 0\n');
  t.equal(errors, '');
  t.equal(code, 0);
});

test('a balance that was tampered with is found in the book, and exits 1', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  await gateway.close();
  change(place, `update accounts set balance = balance + 2500000 where id = ${owner.accountId}`);
  const { code, output } = await reconcile(place);
  t.match(
    output,
    `account ${owner.accountId} (${owner.email}): the stored balance is 101.500000 credits, but the sum of its ledger is 99.000000: difference 2.500000\n`,
  );
  t.match(
    output,
    'No gateway is running on this data folder, so only the book was checked, not the live balances.\n',
  );
  t.match(output, 'accounts checked: 1, differences: 1\n');
  t.equal(code, 1);
});

test('a charge that was taken out of the ledger is found', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  await gateway.close();
  change(place, `delete from ledger where account_id = ${owner.accountId} and type = 'charge'`);
  const { code, output } = await reconcile(place);
  t.match(output, 'the stored balance is 99.000000 credits, but the sum of its ledger is 100.000000');
  t.equal(code, 1);
});

test('a live balance that was tampered with is found through the running gateway’s Redis', async (t) => {
  const { place, owner } = await makeWorld(t);
  const redis = new Redis(socketPathFor(join(place.dataDir, 'redis')));
  t.teardown(() => redis.disconnect());
  // Names begin with the id of the book.
  const [name] = await redis.keys(`*:${accountRedisKey(owner.accountId)}`);
  await redis.hincrby(name ?? '', 'bal', 1);
  const { code, output } = await reconcile(place);
  t.match(
    output,
    'the live balance is 99.000001 credits, but the book plus pending entries is 99.000000: difference 0.000001\n',
  );
  t.match(output, 'accounts checked: 1, differences: 1\n');
  t.equal(code, 1);
});

test('an account that Redis lost is no difference: its next use rebuilds it', async (t) => {
  const { place } = await makeWorld(t);
  const redis = new Redis(socketPathFor(join(place.dataDir, 'redis')));
  t.teardown(() => redis.disconnect());
  await redis.flushall();
  const { code, output } = await reconcile(place);
  t.equal(output, 'accounts checked: 1, differences: 0\n');
  t.equal(code, 0);
});

test('entries that wait in the journal are counted', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  // While another writer has the book, nothing is drained into it.
  const writer = new DatabaseSync(join(place.dataDir, 'book.sqlite'));
  writer.exec('begin immediate');
  await (await gateway.chat(owner.key)).text();
  const { code, output } = await reconcile(place);
  writer.close();
  t.equal(output, 'accounts checked: 1, differences: 0\n');
  t.equal(code, 0);
});

test('without a book, or with a Redis out of reach, one line says so and it exits 1', async (t) => {
  const place = makePlace(t, 'http://127.0.0.1:1');
  const without = await reconcile(place);
  t.match(without, { code: 1, output: '', errors: /^tollgate: The data folder .* has no book\. .*\n$/ });
  const { place: other, gateway } = await makeWorld(t);
  await gateway.close();
  const unreachable = await tollgate(['reconcile'], { ...other.env, REDIS_URL: 'redis://127.0.0.1:1' });
  t.match(unreachable, { code: 1, output: '', errors: /^tollgate: Redis can.t be reached.*\n$/ });
});
