import { cpSync, rmSync } from 'node:fs';
import { test } from 'tap';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { bucketOf } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { admissionOf, chargeOf, entriesOf, openLedgerOn, spend } from '../helper/start/ledger.ts';
import { accountOn } from '../helper/start/ledger-account.ts';
import { startCluster } from '../helper/start/redis-cluster.ts';

test('on Redis Cluster accounts lie on every node, and hold, settle, expire and rebuild work on each', async (t) => {
  const { url, nodes } = await startCluster(t);
  const { book, open } = await openLedgerOn(t, parseRedisUrl(url));
  const { ledger } = open;
  const accounts = await Promise.all(
    Array.from({ length: 12 }, () =>
      accountOn(book, ledger, {
        credits: 10,
        threshold: 8,
        key: { spendingLimit: micro(6_000_000), spendingPeriod: 'weekly' },
      }),
    ),
  );
  t.equal(new Set(accounts.map(({ account }) => bucketOf(account.id))).size, 12);

  await t.test('the accounts are spread', async (t) => {
    for (const node of nodes) t.ok((await (await node.connect()).keys('*tg:*:a:*')).length > 0);
  });

  await t.test('a call is held and settled, at any concurrency within the limit', async (t) => {
    for (const { key, hash, account } of accounts) {
      t.match(await ledger.find(hash), { key: { id: key.id }, accountActive: true });
      const verdicts = await Promise.all(
        Array.from({ length: 10 }, () => spend(open, admissionOf(key, 1), 0.5)),
      );
      t.ok(verdicts.filter((verdict) => verdict === 'held').length >= 6);
      await open.settled();
      const { balance, held } = await ledger.account(account.id);
      t.equal(held, 0);
      t.equal(balance, 10_000_000 - 500_000 * verdicts.filter((verdict) => verdict === 'held').length);
    }
  });

  await t.test('a hold that is left behind is cancelled or expires', async (t) => {
    for (const { key, account } of accounts) {
      const cancelled = admissionOf(key, 0.25);
      const expired = admissionOf(key, 0.25);
      t.match(await ledger.admit(cancelled), { verdict: 'held' });
      t.match(await ledger.admit(expired), { verdict: 'held' });
      open.unanswered.add(cancelled);
      await open.sweep.cancelUnanswered();
      t.equal((await ledger.account(account.id)).held, 250_000);
    }
    await open.sweep.expireHolds(Date.now() + 24 * 3_600_000);
    await open.settled();
    for (const { account } of accounts) {
      t.equal((await ledger.account(account.id)).held, 0);
      const entries = await entriesOf(book, account.id);
      t.equal(entries.filter(({ type }) => type === 'expired_hold').length, 1);
    }
  });

  await t.test('a charge is refunded, once', async (t) => {
    for (const { account } of accounts) {
      const charge = (await entriesOf(book, account.id)).find(({ credits }) => credits === -500_000);
      if (!charge) return t.fail('no charge');
      const { balance } = await ledger.account(account.id);
      const refund = () => open.refunds.refund(account.id, charge.id);
      await Promise.all([refund(), refund()]);
      t.equal((await ledger.account(account.id)).balance, balance + 500_000);
    }
    await open.settled();
  });

  await t.test('a change of a key is in force', async (t) => {
    for (const { key } of accounts) {
      const changed = await book.updateKey(key.accountId, key.id, { spendingLimit: null }, Date.now());
      if (!changed) return t.fail('no key');
      await ledger.publishKey(changed);
      t.same(await ledger.admit(admissionOf(key, 1)), { verdict: 'stale' });
    }
  });

  await t.test(
    'a node that lost everything is rebuilt from the book, charges in flight included',
    async (t) => {
      const inFlight = [];
      for (const { account } of accounts) {
        const [key] = await book.keys(account.id);
        if (!key) return t.fail('no key');
        const admission = admissionOf(key, 1);
        const admitted = await ledger.admit(admission);
        if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
        inFlight.push({
          admission,
          before: (await ledger.account(account.id)).balance,
        });
      }
      await open.settled();
      for (const node of nodes) await (await node.connect()).flushall();
      for (const { admission } of inFlight) ledger.settle(chargeOf(admission, 1), () => {});
      await open.settled();
      for (const { admission, before } of inFlight) {
        t.match(await ledger.account(admission.accountId), { balance: before - 1_000_000, held: 0 });
        const entries = await entriesOf(book, admission.accountId);
        t.equal(
          entries.reduce((sum, { credits }) => sum + credits, 0),
          before - 1_000_000,
        );
      }
    },
  );
});

test('a gateway finds the whole cluster through one node and reports the fault of each', async (t) => {
  const { url, nodes } = await startCluster(t);
  const { open } = await openLedgerOn(t, parseRedisUrl(url));
  t.same(await open.check(), { ok: true, faults: [], durabilityFaults: [] });
  const last = await nodes.at(-1)?.connect();
  await last?.config('SET', 'appendonly', 'no');
  const found = await until('the fault', async () => {
    const { durabilityFaults } = await open.check();
    return durabilityFaults.length > 0 && durabilityFaults;
  });
  t.match(found, [/append-only persistence is off/]);
});

for (const which of ['one node', 'every node']) {
  test(`charges that ${which} lost when it was killed are not given back`, async (t) => {
    const { url, nodes } = await startCluster(t);
    const { book, open } = await openLedgerOn(t, parseRedisUrl(url));
    const accounts = await Promise.all(Array.from({ length: 12 }, () => accountOn(book, open.ledger)));
    await open.settled();
    const killed = which === 'one node' ? nodes.slice(0, 1) : nodes;
    const setBack = killed.map((node) => {
      const earlier = `${node.folder}-earlier`;
      t.teardown(() => rmSync(earlier, { recursive: true, force: true }));
      cpSync(node.folder, earlier, { recursive: true });
      return async () => {
        await node.kill();
        rmSync(node.folder, { recursive: true });
        cpSync(earlier, node.folder, { recursive: true });
        await node.start();
      };
    });
    for (const { key } of accounts) t.equal(await spend(open, admissionOf(key, 60), 60), 'held');
    await open.settled();
    for (const restart of setBack) await restart();
    const verdictOn = (key: KeyRecord) =>
      until('the ledger to answer', () => spend(open, admissionOf(key, 60), 60).catch(() => undefined));
    for (const { key } of accounts) t.equal(await verdictOn(key), 'insufficient');
    for (const { account } of accounts) {
      const sum = (await entriesOf(book, account.id)).reduce((total, { credits }) => total + credits, 0);
      t.equal(sum, 40_000_000);
      t.match(await open.ledger.account(account.id), { balance: 40_000_000, held: 0 });
    }
  });
}
