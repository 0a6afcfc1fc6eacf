import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { admissionOf, chargeOf, entriesOf, spend, spentBy, startLedger } from '../helper/start/ledger.ts';

test('a hold is taken, then settled for less, and the rest is free again', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const admission = admissionOf(key, 4);
  const admitted = await open.ledger.admit(admission);
  t.match(admitted, { verdict: 'held' });
  t.match(await open.ledger.account(key.accountId), { balance: 10_000_000, held: 4_000_000 });
  if (admitted.verdict !== 'held') return;
  await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 1.5), resolve));
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 8_500_000, held: 0 });
  t.equal(await spentBy(open.ledger, key, 'daily'), 1_500_000);
  const entries = await entriesOf(book, key.accountId);
  t.match(entries, [
    { type: 'top_up', credits: 10_000_000, balanceAfter: 10_000_000, seq: 1 },
    { type: 'charge', id: admission.requestId, credits: -1_500_000, balanceAfter: 8_500_000, seq: 2 },
  ]);
});

test('at any concurrency exactly as many calls are held as the balance allows', async (t) => {
  const { open, account, second, book } = await startLedger(t);
  const { key } = await account({ credits: 100 });
  const other = await second();
  const verdicts = await Promise.all(
    Array.from({ length: 600 }, (_, index) => spend(index % 2 ? open : other, admissionOf(key, 1), 1)),
  );
  t.equal(verdicts.filter((verdict) => verdict === 'held').length, 100);
  t.equal(verdicts.filter((verdict) => verdict === 'insufficient').length, 500);
  await open.settled();
  await other.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 0, held: 0 });
  const entries = await entriesOf(book, key.accountId);
  t.equal(entries.length, 101);
  t.equal(
    entries.reduce((sum, { credits }) => sum + credits, 0),
    0,
  );
});

test('at any concurrency exactly as many calls are held as the limit of the key allows', async (t) => {
  const { open, account, second, book } = await startLedger(t);
  const limits = { spendingLimit: micro(100_000_000), spendingPeriod: 'monthly' } as const;
  const { key } = await account({ credits: 1_000, key: limits });
  const other = await second();
  const verdicts = await Promise.all(
    Array.from({ length: 600 }, (_, index) => spend(index % 2 ? open : other, admissionOf(key, 1), 1)),
  );
  t.equal(verdicts.filter((verdict) => verdict === 'held').length, 100);
  t.equal(verdicts.filter((verdict) => verdict === 'over_limit').length, 500);
  await open.settled();
  await other.settled();
  t.equal(await spentBy(open.ledger, key, 'monthly'), 100_000_000);
  t.equal((await entriesOf(book, key.accountId)).length, 101);
});

test('the spending limit counts spend and holds', async (t) => {
  await dayThatLasts();
  const { open, account } = await startLedger(t);
  const { key } = await account({
    credits: 100,
    key: { spendingLimit: micro(3_000_000), spendingPeriod: 'daily' },
  });
  t.equal(await spend(open, admissionOf(key, 1), 1), 'held');
  await open.settled();
  t.match(await open.ledger.admit(admissionOf(key, 1.5)), { verdict: 'held' });
  t.match(await open.ledger.admit(admissionOf(key, 1)), {
    verdict: 'over_limit',
    spending: [{ of: 'key', period: 'daily', spent: 1_000_000, held: 1_500_000, estimated: 1_500_000 }],
    account: { balance: 99_000_000, held: 1_500_000, estimated: 1_500_000, overdraft: 0 },
  });
  t.match(await open.ledger.admit(admissionOf(key, 0.5)), { verdict: 'held' }, 'up to the limit itself');
});

test('a settle that is sent twice charges once', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  for (let times = 0; times < 3; times++) {
    await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 2), resolve));
  }
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000, held: 0 });
  t.equal((await entriesOf(book, key.accountId)).length, 2);
});

test('an admission by an old version of the key is stale', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account();
  const changed = await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
  if (!changed) return t.fail('no key');
  await open.ledger.publishKey(changed);
  t.same(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'stale' });
  t.equal((await open.ledger.current(key.accountId, key.id))?.key.isActive, false);
  await open.ledger.publishKey(key);
  t.equal(
    (await open.ledger.current(key.accountId, key.id))?.key.isActive,
    false,
    'never back to an older one',
  );
});

test('a call that comes while a change of its key is between book and Redis is admitted by the record in Redis', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account();
  await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
  const verdicts = [];
  for (let call = 0; call < 2; call++) {
    const current = await open.ledger.current(key.accountId, key.id);
    verdicts.push((await open.ledger.admit(admissionOf(current?.key ?? key, 1))).verdict);
  }
  t.ok(verdicts.includes('held'), 'stale once at most, if the sweep publishes the change between the two');
});

test('a grant is applied once, however often it is asked for', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 1 });
  const { accountId } = key;
  const { grant } = await book.createGrant(
    {
      id: 'grant_once',
      accountId,
      amount: micro(5_000_000),
      type: 'top_up',
      note: '',
      createdAt: Date.now(),
    },
    null,
  );
  t.equal(await open.ledger.grant(grant), 6_000_000);
  t.equal(await open.ledger.grant(grant), 6_000_000);
  await open.settled();
  t.equal(await open.ledger.grant(grant), 6_000_000, 'also once it is in the book');
  t.same(await book.pendingGrants(Date.now() + 1, 10), []);
});

test('one alert for each debit that takes the balance below the threshold', async (t) => {
  const { open, account, alerts, book } = await startLedger(t);
  const { key } = await account({ credits: 10, threshold: 8 });
  await spend(open, admissionOf(key, 2), 2);
  await open.settled();
  t.equal((await book.alerts(key.accountId, 10)).length, 0, 'at the threshold is not below it');
  await Promise.all(Array.from({ length: 5 }, () => spend(open, admissionOf(key, 1), 1)));
  await open.settled();
  const queued = await book.alerts(key.accountId, 10);
  t.match(queued, [{ creditsBalance: 7_000_000, test: false }]);
  t.equal(queued.length, 1);
  t.equal(alerts(), 1);
});

test('amounts are exact up to the largest that there may be, also where a hold is larger than all', async (t) => {
  const { open, account, book } = await startLedger(t);
  const all = 8_500_000_000;
  const { key } = await account({
    credits: all,
    key: { spendingLimit: micro(all * 1e6), spendingPeriod: 'monthly' },
  });
  const endless = { hold: micro(Number.MAX_SAFE_INTEGER) };
  const whole = admissionOf(key, all - 1e-6);
  const verdicts = await Promise.all([
    open.ledger.admit(admissionOf(key, 0, endless)),
    open.ledger.admit(whole),
    open.ledger.admit(admissionOf(key, 2e-6, { spendingLimits: [] })),
    open.ledger.admit(admissionOf(key, 0, { ...endless, spendingLimits: [] })),
    open.ledger.admit(admissionOf(key, 1e-6)),
    open.ledger.admit(admissionOf(key, 1e-6)),
  ]);
  t.match(verdicts, [
    { verdict: 'over_limit', spending: [{ spent: 0, held: 0 }] },
    { verdict: 'held' },
    { verdict: 'insufficient', balance: all * 1e6, held: all * 1e6 - 1 },
    { verdict: 'insufficient', balance: all * 1e6, held: all * 1e6 - 1 },
    { verdict: 'held' },
    { verdict: 'over_limit', spending: [{ spent: 0, held: all * 1e6 }] },
  ]);
  await new Promise<void>((resolve) => open.ledger.settle(chargeOf(whole, all - 1e-6), resolve));
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 1, held: 1 });
  t.equal((await entriesOf(book, key.accountId)).at(-1)?.balanceAfter, 1);
});
