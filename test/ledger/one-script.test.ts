import type { Redis } from 'ioredis';
import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { accountRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, chargeOf, entriesOf, spend, startLedger } from '../helper/start/ledger.ts';

/** How often Redis has been asked to run a script by its SHA. */
async function scriptsRun(raw: Redis): Promise<number> {
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(await raw.info('commandstats'))?.[1] ?? 0);
}

test('the admissions of one tick are one script, and so are its settles', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const owners = await Promise.all([account({ credits: 50 }), account({ credits: 50 })]);
  // The first command of a connection has the whole script.
  for (const { key } of owners) await spend(open, admissionOf(key, 1), 1);
  await open.settled();
  const before = await scriptsRun(raw);
  const admissions = owners.flatMap(({ key }) => Array.from({ length: 10 }, () => admissionOf(key, 2)));
  const verdicts = await Promise.all(admissions.map((admission) => open.ledger.admit(admission)));
  t.same(new Set(verdicts.map(({ verdict }) => verdict)), new Set(['held']));
  t.equal((await scriptsRun(raw)) - before, 1);
  for (const { account } of owners) t.match(await open.ledger.account(account.id), { held: 20_000_000 });

  const between = await scriptsRun(raw);
  await Promise.all(
    admissions.map(
      (admission) => new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 1), resolve)),
    ),
  );
  await open.settled();
  t.equal((await scriptsRun(raw)) - between, 1);
  for (const { account } of owners) {
    t.match(await open.ledger.account(account.id), { balance: 39_000_000, held: 0 });
    const entries = await entriesOf(book, account.id);
    t.same(
      entries.map(({ seq, balanceAfter }) => [seq, balanceAfter]),
      entries.map((_, index) => [index + 1, 50_000_000 - 1_000_000 * index]),
      'each entry has a place and a balance of its own',
    );
  }
});

test('each call of a tick is checked after the holds of earlier ones and gets its own answer', async (t) => {
  const { open, account } = await startLedger(t);
  const rich = await account({ credits: 10 });
  const limited = await account({
    credits: 10,
    key: { spendingLimit: micro(3_000_000), spendingPeriod: 'weekly' },
  });
  const admit = (key: typeof rich.key, credits: number, more = {}) =>
    open.ledger.admit(admissionOf(key, credits, more));
  const repeated = admissionOf(rich.key, 1);
  const answers = await Promise.allSettled([
    admit(rich.key, 6),
    admit(rich.key, 6),
    admit(limited.key, 2),
    admit(limited.key, 2),
    admit(limited.key, 1),
    admit(rich.key, 1, { keyVersion: rich.key.version + 1 }),
    open.ledger.admit(repeated),
    open.ledger.admit(repeated),
    admit(rich.key, 3),
  ]);
  const read = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason));
  t.match(read, [
    { verdict: 'held' },
    { verdict: 'insufficient', balance: 10_000_000, held: 6_000_000 },
    { verdict: 'held' },
    { verdict: 'over_limit', spending: [{ spent: 0, held: 2_000_000 }] },
    { verdict: 'held' },
    { verdict: 'stale' },
    { verdict: 'held' },
    { message: 'the admission was repeated' },
    { verdict: 'held' },
  ]);
});

test('more calls in a tick than one script takes are all admitted as far as the credits go', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key, account: owner } = await account({ credits: 90 });
  t.equal(await spend(open, admissionOf(key, 1), 0), 'held');
  await open.settled();
  const before = await scriptsRun(raw);
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => open.ledger.admit(admissionOf(key, 1))),
  );
  t.equal((await scriptsRun(raw)) - before, 7, 'none keeps Redis for longer than 32 calls take');
  t.equal(answers.filter(({ verdict }) => verdict === 'held').length, 90);
  t.equal(answers.filter(({ verdict }) => verdict === 'insufficient').length, 110);
  t.match(await open.ledger.account(owner.id), { balance: 90_000_000, held: 90_000_000 });
});

test('a call that a script cannot check takes no other with it', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const [broken, sound] = [await account({ credits: 5 }), await account({ credits: 5 })];
  await raw.hset(accountRedisKey(broken.account.id), 'bal', 'not a number');
  const answers = await Promise.allSettled(
    [sound, broken, sound].map(({ key }) => open.ledger.admit(admissionOf(key, 1))),
  );
  t.match(answers, [
    { status: 'fulfilled', value: { verdict: 'held' } },
    { status: 'rejected', reason: { message: 'no answer to an admission' } },
    { status: 'fulfilled', value: { verdict: 'held' } },
  ]);
});

test('the first script of a connection goes whole, so that the last command of a killed gateway runs without NOSCRIPT', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account({ credits: 50 });
  const refused = async () =>
    (await raw.info('errorstats')).match(/errorstat_NOSCRIPT:count=(\d+)/)?.[1] ?? '0';
  const before = await refused();
  t.equal(await spend(open, admissionOf(key, 1), 1), 'held');
  await open.settled();
  t.equal(await refused(), before);
});

test('a Redis that forgot the scripts is sent them again, for each call of the tick', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key, account: owner } = await account({ credits: 50 });
  t.equal(await spend(open, admissionOf(key, 1), 1), 'held');
  await open.settled();
  await raw.script('FLUSH');
  const verdicts = await Promise.all(Array.from({ length: 8 }, () => spend(open, admissionOf(key, 2), 1)));
  t.same(new Set(verdicts), new Set(['held']));
  await open.settled();
  t.match(await open.ledger.account(owner.id), { balance: 41_000_000, held: 0 });
});
