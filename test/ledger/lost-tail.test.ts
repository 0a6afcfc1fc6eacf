import { cpSync, rmSync } from 'node:fs';
import { type Test, test } from 'tap';
import { accountOn } from '../helper/ledger-account.ts';
import { admissionOf, chargeOf, entriesOf, openLedgerOn, spend } from '../helper/ledger-world.ts';
import { startRedis } from '../helper/redis-process.ts';
import { until } from '../helper/until.ts';

/** A ledger on a Redis that can be set back to an earlier moment, as a failover or a dead machine does. */
async function startWorld(t: Test) {
  const redis = await startRedis(t);
  const { book, open } = await openLedgerOn(t, { kind: 'single', url: redis.url });
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
    /** Once calls are let through again. */
    live: (accountId: number) =>
      until('the ledger to be open', () => open.ledger.account(accountId).catch(() => undefined)),
  };
}

test('charges that Redis lost and the book has are not given back', async (t) => {
  const { book, open, account, remember, setBack, live } = await startWorld(t);
  const { key } = await account();
  // More than once, because the two connections of a ledger come back in either order.
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

test('a deletion that Redis lost is published again before any call is admitted', async (t) => {
  const { book, open, account, remember, setBack, live } = await startWorld(t);
  const { key } = await account();
  for (let round = 1; round <= 4; round++) {
    await open.settled();
    remember();
    const deleted = await book.updateKey(key.accountId, key.id, { isActive: round % 2 === 0 }, Date.now());
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
  const { book, open, account, remember, setBack, live } = await startWorld(t);
  const { key } = await account();
  await open.settled();
  remember();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  await setBack();
  await live(key.accountId);
  for (let time = 1; time <= 2; time++) {
    await new Promise<void>((resolve) => open.ledger.settle(admitted.epoch, chargeOf(admission, 1), resolve));
    await open.settled();
  }
  t.match(await open.ledger.account(key.accountId), { balance: 99_000_000, held: 0 });
  const entries = await entriesOf(book, key.accountId);
  t.same(
    entries.slice(1).map(({ id, credits }) => [id, credits]),
    [[admission.requestId, -1_000_000]],
  );
});
