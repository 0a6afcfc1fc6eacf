import { cpSync, rmSync } from 'node:fs';
import { type Test, test } from 'tap';
import { BookUnavailable } from '../../src/book/store.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { accountRedisKey, bucketOf, holdsRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { admissionOf, chargeOf, entriesOf, log, openLedgerOn, spend } from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { startPostgres } from '../helper/start/postgres-server.ts';
import { REDIS_TIMEOUT_MS, startRedis } from '../helper/start/redis-process.ts';

const HOUR_MS = 3_600_000;

/** A ledger on a Redis that can be set back to an earlier moment, as a failover or a dead machine does. */
async function startGatewayInProcess(t: Test, databaseUrl?: string) {
  const redis = await startRedis(t);
  const { book, open } = await openLedgerOn(
    t,
    { kind: 'single', url: redis.url },
    { databaseUrl, redisTimeoutMs: REDIS_TIMEOUT_MS },
  );
  const earlier = `${redis.folder}-earlier`;
  t.teardown(() => rmSync(earlier, { recursive: true, force: true }));
  return {
    book,
    open,
    account: () => accountOn(book, open.ledger),
    remember: () => cpSync(redis.folder, earlier, { recursive: true }),
    async setBack() {
      await redis.kill();
      rmSync(redis.folder, { recursive: true });
      cpSync(earlier, redis.folder, { recursive: true });
      rmSync(earlier, { recursive: true });
      await redis.start();
    },
    /** Waits until calls are admitted again. */
    redis,
    live: (accountId: number) =>
      until('the ledger to be open', () => open.ledger.account(accountId).catch(() => undefined)),
    /** The account once it has no hold. */
    released: (accountId: number) =>
      until('the hold to be released', async () => {
        const found = await open.ledger.account(accountId);
        return found.held === 0 && found;
      }),
  };
}

test('charges that Redis lost and the book has are not given back', async (t) => {
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  // More than once, because a ledger's two connections come back in either order.
  for (let round = 1; round <= 4; round++) {
    await open.settled();
    remember();
    t.equal(await spend(open, admissionOf(key, 2), 2), 'held');
    await open.settled();
    await setBack();
    t.match(await live(key.accountId), { balance: (100 - 3 * round + 1) * 1_000_000, held: 0 });
    t.equal(await spend(open, admissionOf(key, 1), 1), 'held');
  }
  await open.settled();
  const entries = await entriesOf(book, key.accountId);
  t.equal(entries.length, 9);
  t.equal(
    entries.reduce((sum, { credits }) => sum + credits, 0),
    88_000_000,
  );
});

test('a deletion that Redis lost is published again before any call is admitted, however old its commit is', async (t) => {
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  for (let round = 1; round <= 4; round++) {
    await open.settled();
    remember();
    // The later two could only be published long after their commit.
    const committedAt = round <= 2 ? Date.now() : Date.now() - HOUR_MS;
    const deleted = await book.updateKey(key.accountId, key.id, { isActive: round % 2 === 0 }, committedAt);
    if (!deleted) return t.fail('no key');
    await open.ledger.publishKey(deleted);
    await until('it to be noted', async () => (await book.unpublished(1)).keys.length === 0);
    await setBack();
    await live(key.accountId);
    const old = admissionOf({ ...deleted, version: deleted.version - 1 }, 1);
    t.same(await open.ledger.admit(old), { verdict: 'stale' });
  }
});

test('a call whose hold went with the lost tail is charged all the same, once', async (t) => {
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  await open.settled();
  remember();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  await setBack();
  await live(key.accountId);
  for (let time = 1; time <= 2; time++) {
    await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 1), resolve));
    await open.settled();
  }
  t.match(await open.ledger.account(key.accountId), { balance: 99_000_000, held: 0 });
  const entries = await entriesOf(book, key.accountId);
  t.same(
    entries.slice(1).map(({ id, credits }) => [id, credits]),
    [[admission.requestId, -1_000_000]],
  );
});

/** Sets this machine's clock ahead from now on; Redis keeps its own. */
function hoursLater(t: Test, hours: number): void {
  const now = Date.now.bind(Date);
  Date.now = () => now() + hours * HOUR_MS;
  t.teardown(() => {
    Date.now = now;
  });
}

test('a deletion that Redis lost stays in force, also where Redis was away for hours', async (t) => {
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  await open.settled();
  remember();
  const deleted = await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
  if (!deleted) return t.fail('no key');
  await open.ledger.publishKey(deleted);
  await until('it to be noted', async () => (await book.unpublished(1)).keys.length === 0);
  hoursLater(t, 12);
  await setBack();
  await live(key.accountId);
  t.same(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'stale' });
});

test('charges that Redis lost cannot be spent again, even after hours without Redis', async (t) => {
  const { open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  await open.settled();
  remember();
  t.equal(await spend(open, admissionOf(key, 60), 60), 'held');
  await open.settled();
  hoursLater(t, 12);
  await setBack();
  t.match(await live(key.accountId), { balance: 40_000_000, held: 0 });
});

test('a settle whose hold is back is not taken to have been made', async (t) => {
  const { book, redis, open, account } = await startGatewayInProcess(t);
  const { key } = await account();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  const raw = await redis.connect();
  const holds = holdsRedisKey(bucketOf(key.accountId));
  const hold = await raw.hget(holds, admission.requestId);
  // Redis loses the hold while the book is unreachable; then an older Redis takes over.
  await raw.hdel(holds, admission.requestId);
  const asked = Promise.withResolvers<void>();
  const { entriesAmong } = book;
  book.entriesAmong = () => {
    asked.resolve();
    return Promise.reject(new BookUnavailable('halted'));
  };
  open.ledger.settle(chargeOf(admission, 1), () => {});
  await asked.promise;
  await raw.hset(holds, admission.requestId, hold ?? '');
  book.entriesAmong = entriesAmong;
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 99_000_000, held: 0 });
  t.match((await entriesOf(book, key.accountId)).slice(1), [
    { id: admission.requestId, credits: -1_000_000 },
  ]);
});

/** A call whose charge is in the book, and whose hold is in the earlier Redis. */
async function revivedHold(t: Test) {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  await world.open.settled();
  const admission = admissionOf(key, 2);
  const admitted = await world.open.ledger.admit(admission);
  if (admitted.verdict !== 'held') throw new Error(admitted.verdict);
  world.remember();
  await new Promise<void>((resolve) => world.open.ledger.settle(chargeOf(admission, 1), resolve));
  await world.open.settled();
  return { ...world, key };
}

test('a hold of a charged call that came back with an older Redis is released immediately', async (t) => {
  const { key, setBack, live, released } = await revivedHold(t);
  await setBack();
  await live(key.accountId);
  t.match(await released(key.accountId), { balance: 99_000_000 });
});

test('so is one of a charge that this gateway only found to be there already', async (t) => {
  const world = await startGatewayInProcess(t);
  const { redis, book, open, remember, setBack, live, released } = world;
  const { key } = await world.account();
  await open.settled();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  remember();
  // Through another ledger, as if the reply had been lost.
  const other = await openLedger({
    address: { kind: 'single', url: redis.url },
    book,
    log,
    requestTimeoutMs: 60_000,
    onAlerts() {},
  });
  const charge = chargeOf(admission, 1);
  other.ledger.settle(charge, () => {});
  await other.settled();
  other.abandon();
  open.ledger.settle(charge, () => {});
  await open.settled();
  await setBack();
  await live(key.accountId);
  t.match(await released(key.accountId), { balance: 99_000_000 });
});

test('such a hold takes no place in the ledger when it expires, where its gateway died meanwhile', async (t) => {
  const { book, redis, open, key, setBack } = await revivedHold(t);
  open.abandon();
  await setBack();
  const next = await openLedger({
    address: { kind: 'single', url: redis.url },
    book,
    log,
    requestTimeoutMs: 60_000,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    onAlerts() {},
  });
  t.teardown(() => next.close(1_000));
  t.match(await next.ledger.account(key.accountId), { balance: 99_000_000, held: 2_000_000 });
  await next.sweep.expireHolds(Date.now() + HOUR_MS);
  await next.settled();
  t.match(await next.ledger.account(key.accountId), { balance: 99_000_000, held: 0 });
  const raw = await redis.connect();
  const booked = (await book.recentAccounts(0)).find(({ id }) => id === key.accountId);
  t.equal(Number(await raw.hget(accountRedisKey(key.accountId), 'seq')), booked?.seq);
});

test('charges that Redis lost while the book was away are made again when it is back, despite later charges', async (t) => {
  const postgres = await startPostgres({ fsync: 'off' });
  t.teardown(() => postgres.stop());
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(
    t,
    postgres.url('postgres'),
  );
  const { key } = await account();
  await open.settled();
  remember();
  await postgres.halt();
  const lost = [admissionOf(key, 2), admissionOf(key, 3)];
  for (const admission of lost) t.equal(await spend(open, admission, 2), 'held');
  await until('both to be answered', () => open.openSettlements() === 0);
  await setBack();
  t.match(await live(key.accountId), { balance: 100_000_000 });
  const later = admissionOf(key, 1);
  const admitted = await open.ledger.admit(later);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  // So late that a gateway has no other reason to remember them.
  await open.sweep.stop(0);
  const now = performance.now.bind(performance);
  performance.now = () => now() + HOUR_MS;
  t.teardown(() => {
    performance.now = now;
  });
  open.ledger.settle(chargeOf(later, 1), () => {});
  await until('it to be answered', () => open.openSettlements() === 0);
  performance.now = now;
  await postgres.resume();
  await until('the lost ones to be in the book', async () => {
    await open.settled();
    return (await entriesOf(book, key.accountId)).length === 4;
  });
  t.match(await open.ledger.account(key.accountId), { balance: 95_000_000, held: 0 });
  t.same(
    (await entriesOf(book, key.accountId))
      .map(({ id }) => id)
      .slice(1)
      .sort(),
    [...lost, later].map(({ requestId }) => requestId).sort(),
  );
});

test('a gateway that stops as soon as the book is back makes the charges again that Redis lost meanwhile', async (t) => {
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  await open.settled();
  remember();
  const admission = admissionOf(key, 2);
  const { recentAccounts } = book;
  book.recentAccounts = () => Promise.reject(new BookUnavailable('halted'));
  const { post } = book;
  book.post = () => Promise.reject(new BookUnavailable('halted'));
  t.equal(await spend(open, admission, 2), 'held');
  await until('it to be answered', () => open.openSettlements() === 0);
  await setBack();
  t.match(await live(key.accountId), { balance: 100_000_000 }, 'calls go on uncompared');
  await until('the other connection to be back', () => open.backlog().catch(() => undefined));
  Object.assign(book, { recentAccounts, post });
  await open.close(20_000);
  t.match((await entriesOf(book, key.accountId)).slice(1), [{ id: admission.requestId }]);
});

test('so does one that stops before the book is back', async (t) => {
  const { book, open, account, remember, setBack, live } = await startGatewayInProcess(t);
  const { key } = await account();
  await open.settled();
  remember();
  const admission = admissionOf(key, 2);
  const { recentAccounts, post } = book;
  const halted = () => Promise.reject(new BookUnavailable('halted'));
  Object.assign(book, { recentAccounts: halted, post: halted });
  t.equal(await spend(open, admission, 2), 'held');
  await until('it to be answered', () => open.openSettlements() === 0);
  await setBack();
  await live(key.accountId);
  await until('the other connection to be back', () => open.backlog().catch(() => undefined));
  const closed = open.close(20_000);
  book.recentAccounts = () => {
    Object.assign(book, { recentAccounts, post });
    return halted();
  };
  await closed;
  t.match((await entriesOf(book, key.accountId)).slice(1), [{ id: admission.requestId }]);
});

test('so does one that stops while Redis is away, and is quicker to drain than to compare', async (t) => {
  const { book, open, account, remember, setBack } = await startGatewayInProcess(t);
  const { key } = await account();
  await open.settled();
  const { post, recentAccounts } = book;
  book.post = () => Promise.reject(new BookUnavailable('halted'));
  remember();
  const admission = admissionOf(key, 2);
  t.equal(await spend(open, admission, 2), 'held');
  await until('it to be answered', () => open.openSettlements() === 0);
  const back = setBack();
  await until('Redis to be missed', () =>
    open.ledger.account(key.accountId).then(
      () => undefined,
      () => true,
    ),
  );
  book.post = post;
  const closed = open.close(30_000);
  book.recentAccounts = async (since) => {
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 1_000))]);
    return recentAccounts.call(book, since);
  };
  await back;
  await closed;
  t.match((await entriesOf(book, key.accountId)).slice(1), [{ id: admission.requestId }]);
});

test('a gateway that stops while Redis is away leaves no hold of a call that it gave up', async (t) => {
  const { open, account, redis } = await startGatewayInProcess(t);
  const { key } = await account();
  const admission = admissionOf(key, 2);
  t.match(await open.ledger.admit(admission), { verdict: 'held' });
  await redis.kill();
  open.ledger.cancel(admission);
  const closed = open.close(30_000);
  await redis.start();
  await closed;
  const raw = await redis.connect();
  t.equal(await raw.hget(holdsRedisKey(bucketOf(key.accountId)), admission.requestId), null);
});
