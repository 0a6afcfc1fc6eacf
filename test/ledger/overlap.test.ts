import { test } from 'tap';
import { bucketOf, holdsRedisKey, journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, entriesOf, spend, startLedger } from '../helper/start/ledger.ts';

const CALLS = 40;

test('concurrent drains and sweeps of three gateways write each entry once', async (t) => {
  const { open, second, account, book, raw } = await startLedger(t);
  const all = [open, await second(), await second()];
  const owners = await Promise.all(Array.from({ length: 5 }, () => account({ credits: 1_000 })));
  for (const { key } of owners) {
    for (let call = 0; call < CALLS; call++) {
      const by = all[call % 3] as typeof open;
      t.equal(await spend(by, admissionOf(key, 2), 1), 'held');
      // Holds of gateways that died; nobody settles them.
      t.match(await by.ledger.admit(admissionOf(key, 1)), { verdict: 'held' });
    }
  }
  const later = Date.now() + 3_600_000;
  await Promise.all(
    all.flatMap(({ sweep, drain }) => [
      sweep.expireHolds(later),
      drain.drainAll(),
      sweep.repair(),
      sweep.expireHolds(later),
      drain.drainAll(),
    ]),
  );
  for (const one of all) await one.settled();
  for (const { account } of owners) {
    const entries = await entriesOf(book, account.id);
    const count = (type: string) => entries.filter((entry) => entry.type === type).length;
    t.same(
      [count('top_up'), count('charge'), count('expired_hold'), entries.length],
      [1, CALLS, CALLS, 1 + 2 * CALLS],
    );
    t.match(await open.ledger.account(account.id), { balance: (1_000 - CALLS) * 1_000_000, held: 0 });
    t.equal(await raw.xlen(journalRedisKey(bucketOf(account.id))), 0);
  }
});

test('a hold that cannot be released keeps back none of the others', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const owners = await Promise.all(Array.from({ length: 6 }, () => account()));
  for (const { key } of owners) t.match(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'held' });
  // The hold of an account that the book does not know, so that no rebuild succeeds.
  const unknown = 64_000;
  const holds = Object.values(await raw.hgetall(holdsRedisKey(bucketOf(owners[0]?.account.id ?? 0))));
  const text = holds.find((hold) => !hold.startsWith('-')) ?? '';
  const [amount, deadline, key, , ...rest] = text.split(' ');
  await raw.hset(
    holdsRedisKey(bucketOf(unknown)),
    'orphan',
    [amount, deadline, key, unknown, ...rest].join(' '),
  );
  await t.rejects(open.sweep.expireHolds(Date.now() + 3_600_000), 'the failure is told');
  await open.settled();
  for (const { account } of owners) {
    t.match(await open.ledger.account(account.id), { held: 0 });
    t.equal((await entriesOf(book, account.id)).at(-1)?.type, 'expired_hold');
  }
});
