import { type Test, test } from 'tap';
import type { Book } from '../../src/book/book.ts';
import { BookUnavailable } from '../../src/book/store.ts';
import { openLedger } from '../../src/ledger/open-ledger.ts';
import { until } from '../helper/check/until.ts';
import { admissionOf, entriesOf, log, spend, startLedger, type TestLedger } from '../helper/start/ledger.ts';
import { REDIS_TIMEOUT_MS } from '../helper/start/redis-process.ts';

/** Number of scripts that Redis has run. */
async function scriptsRun(raw: TestLedger['raw']): Promise<number> {
  const stats = await raw.info('commandstats');
  return [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

/** Another gateway, some of whose queries wait. */
async function gatewayOn(t: Test, { redis, book }: TestLedger, more: Partial<Book>) {
  const address = { kind: 'socket', path: redis.socketPath } as const;
  const open = await openLedger({
    address,
    book: { ...book, ...more },
    log,
    requestTimeoutMs: 60_000,
    redisTimeoutMs: REDIS_TIMEOUT_MS,
    onAlerts() {},
  });
  t.teardown(() => open.close(1_000));
  return open;
}

test('credits spent after a rebuild cannot be spent again after a rebuild that began before it', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10 });
  await world.open.settled();
  const isAsked = Promise.withResolvers<void>();
  const isSpent = Promise.withResolvers<void>();
  const late = await gatewayOn(t, world, {
    async snapshot(...of) {
      isAsked.resolve();
      await isSpent.promise;
      return await world.book.snapshot(...of);
    },
  });
  const isOver = Promise.withResolvers<void>();
  const early = await gatewayOn(t, world, {
    async post(entries) {
      await isOver.promise;
      return await world.book.post(entries);
    },
  });
  await world.raw.flushall();
  const lateRead = late.ledger.account(key.accountId);
  await isAsked.promise;
  await world.raw.config('RESETSTAT');
  const earlySpend = spend(early, admissionOf(key, 8), 8);
  // If the second rebuild waits for the first, nothing is spent yet: its admission and its begin are two scripts.
  const begun = until('the second rebuild to begin or wait', async () => (await scriptsRun(world.raw)) >= 2);
  await Promise.race([earlySpend, begun]);
  isSpent.resolve();
  await lateRead;
  const verdicts = [await earlySpend, await spend(late, admissionOf(key, 8), 8)];
  isOver.resolve();
  t.same(verdicts, ['held', 'insufficient']);
  await early.settled();
  await late.settled();
  t.match(await late.ledger.account(key.accountId), { balance: 2_000_000, held: 0 });
  t.equal((await entriesOf(world.book, key.accountId)).at(-1)?.balanceAfter, 2_000_000);
});

test('a rebuild that the book failed keeps no other gateway waiting for its lease', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10 });
  await world.open.settled();
  const failing = await gatewayOn(t, world, {
    async snapshot() {
      throw new BookUnavailable('away');
    },
  });
  await world.raw.flushall();
  await t.rejects(failing.ledger.account(key.accountId));
  t.match(await world.open.ledger.account(key.accountId), { balance: 10_000_000 });
});
