import { type Test, test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { refuseRestoredBook } from '../../src/ledger/recovery/live-state-check.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, type Owner, sumOf } from '../helper/clients/owner.ts';
import { tollgate } from '../helper/start/command.ts';
import { makePlace, type Place } from '../helper/start/gateway-process.ts';
import { admissionOf, log, spend, startLedger } from '../helper/start/ledger.ts';
import { createDatabase, execute } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { type ServedPlace, servePlace } from '../helper/start/served-place.ts';

interface Restored {
  readonly place: Place;
  readonly databaseUrl: string;
  /** Had 99 credits when the backup was made. */
  readonly owner: Owner;
}

/**
 * Makes an account with 99 credits and a backup of the book, runs `afterwards` at a gateway on the same Redis, then
 * restores the backup.
 */
async function restoredAfter(
  t: Test,
  afterwards: (gateway: ServedPlace, owner: Owner) => Promise<unknown>,
): Promise<Restored> {
  const [redis, original, provider] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startDemoProvider(),
  ]);
  t.teardown(() => provider.close());
  const placeOn = (DATABASE_URL: string) =>
    makePlace(t, provider.url, { REDIS_URL: redis.url, DATABASE_URL });
  const before = await servePlace(t, placeOn(original));
  const owner = await makeOwner(before, 100);
  await (await before.chat(owner.key)).text();
  await before.close();
  const { pathname } = new URL(original);
  const backup = `${pathname.slice(1)}_backup`;
  const admin = original.replace(/\/[^/]*$/, '/postgres');
  await execute(admin, `create database ${backup} template ${pathname.slice(1)}`);
  const after = await servePlace(t, placeOn(original));
  await afterwards(after, owner);
  await after.close();
  const databaseUrl = original.replace(/\/[^/]*$/, `/${backup}`);
  return { place: placeOn(databaseUrl), databaseUrl, owner };
}

const call = async (gateway: ServedPlace, owner: Owner) => (await gateway.chat(owner.key)).text();

async function refused(t: Test, place: Place, evidence: RegExp): Promise<void> {
  const message = /^The book is older than the data in Redis [^\n]+operating\.md[^\n]+$/;
  await t.rejects(servePlace(t, place), { message });
  await t.rejects(servePlace(t, place), { message: evidence }, 'each time');
}

test('a book from a backup beside the Redis of later is refused, each time', async (t) => {
  const { place } = await restoredAfter(t, call);
  await refused(t, place, /it lacks ledger entry [\w-]+\)/);
});

test('also where nothing but a new account has come since', async (t) => {
  const { place } = await restoredAfter(t, (gateway) => makeOwner(gateway, 0));
  await refused(t, place, /it lacks key 2/);
});

test('also where nothing but a new key of an account has come since', async (t) => {
  const { place } = await restoredAfter(t, async (gateway, owner) => {
    const { status } = await apiOf(gateway, owner.key).post('/api/keys/', { name: 'lost' });
    t.equal(status, 201);
  });
  await refused(t, place, /it lacks key 2/);
});

test('with a new identity it goes on from the backup without the lost entries', async (t) => {
  let lost: Owner | undefined;
  const { place, databaseUrl, owner } = await restoredAfter(t, async (gateway, first) => {
    await call(gateway, first);
    lost = await makeOwner(gateway, 50);
    await call(gateway, lost);
  });
  // As operating.md says for other backups than ours.
  await execute(databaseUrl, 'update identity set id = substr(md5(random()::text), 1, 8)');
  const gateway = await servePlace(t, place);
  t.same(await balanceOf(gateway, owner), { balance: 99, held: 0 });
  t.equal((await gateway.chat(lost?.key ?? '')).status, 401, 'a key of later is unknown');
  const next = await makeOwner(gateway, 7);
  t.equal(next.accountId, lost?.accountId, 'the id is given out again');
  t.same(await balanceOf(gateway, next), { balance: 7, held: 0 }, 'with nothing of its former owner');
  t.equal((await gateway.chat(lost?.key ?? '')).status, 401);
  await call(gateway, owner);
  const entries = await until('the ledger to have the call', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === 3 && found;
  });
  t.equal(sumOf(entries), 98_000_000);
  t.match(await tollgate(['reconcile'], place.env), { code: 0 });
});

test('a book from a backup after which nothing happened is taken', async (t) => {
  const { place, owner } = await restoredAfter(t, async () => {});
  t.same(await balanceOf(await servePlace(t, place), owner), { balance: 99, held: 0 });
});

test('a book that is only behind its journal is not taken for a restored one', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10 });
  await world.open.settled();
  world.open.drain.abandon();
  for (let calls = 0; calls < 3; calls++) await spend(world.open, admissionOf(key, 1), 1);
  await until('the entries to be in the journal', async () => (await world.open.backlog()).entries === 3);
  await refuseRestoredBook(world.raw, world.book, log);
  await (await world.second()).settled();
  t.equal((await world.open.ledger.account(key.accountId)).balance, 7_000_000);
});
