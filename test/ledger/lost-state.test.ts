import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import { parseJournalEntry } from '../../src/ledger/journal/entry-text.ts';
import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  journalRedisKey,
  keyRedisKey,
} from '../../src/ledger/redis/redis-keys.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import {
  admissionOf,
  chargeOf,
  entriesOf,
  spend,
  spentBy,
  startLedger,
  type TestLedger,
} from '../helper/start/ledger.ts';

test('an emptied Redis is rebuilt from the book: balance, spend, versions', async (t) => {
  await dayThatLasts();
  const { open, account, raw, book } = await startLedger(t);
  const { key, hash } = await account({
    credits: 10,
    key: { spendingLimit: micro(5_000_000), spendingPeriod: 'weekly' },
  });
  await spend(open, admissionOf(key, 3), 3);
  await open.settled();
  await raw.flushall();
  t.match(await open.ledger.find(hash), { key: { id: key.id, version: 1 }, accountActive: true });
  t.match(await open.ledger.account(key.accountId), { balance: 7_000_000, held: 0 });
  t.match(await open.ledger.admit(admissionOf(key, 3)), {
    verdict: 'over_limit',
    spending: [{ spent: 3_000_000 }],
  });
  t.equal(await spend(open, admissionOf(key, 2), 2), 'held');
  await open.settled();
  t.same(
    (await entriesOf(book, key.accountId)).map(({ seq, balanceAfter }) => [seq, balanceAfter]),
    [
      [1, 10_000_000],
      [2, 7_000_000],
      [3, 5_000_000],
    ],
  );
});

test('a call whose hold was lost with Redis is still charged, once', async (t) => {
  const { open, account, raw, book } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  await raw.flushall();
  for (let times = 0; times < 2; times++) {
    await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, 2), resolve));
    await open.settled();
  }
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000, held: 0 });
  const entries = await entriesOf(book, key.accountId);
  t.equal(entries.filter(({ id }) => id === admission.requestId).length, 1);
});

test('entries journalled before a rebuild and drained after it are posted, and the account rebuilt', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  // Not yet drained when the book takes a new epoch, as in a rebuild at another gateway.
  t.equal(await spend(open, admissionOf(key, 2), 2), 'held');
  await book.snapshot(key.accountId, { day: 0, week: 0, month: 0 });
  await t.resolves(open.settled(), 'a gateway that died after taking the epoch stops nobody');
  await spend(open, admissionOf(key, 1), 1);
  const entries = await until('all entries to be in the book', async () => {
    await open.settled();
    const found = await entriesOf(book, key.accountId);
    return found.length === 3 && found;
  });
  t.same(
    entries
      .map(({ credits, balanceAfter }) => [credits, balanceAfter])
      .sort(([, a], [, b]) => Number(b) - Number(a)),
    [
      [10_000_000, 10_000_000],
      [-2_000_000, 8_000_000],
      [-1_000_000, 7_000_000],
    ],
  );
  t.match(await open.ledger.account(key.accountId), { balance: 7_000_000, held: 0 });
});

/** Puts the key in a state that no step of a rebuild leaves, and that only the epoch reveals. */
async function leaveInOldEpoch({ raw }: Pick<TestLedger, 'raw'>, key: KeyRecord): Promise<void> {
  await raw.hset(keyRedisKey(key.accountId, key.id), { ep: '0', ds: '0', ws: '0', ms: '0' });
}

test('a key of another epoch than its account’s is not used for checks: both are rebuilt', async (t) => {
  const world = await startLedger(t);
  const { open, account } = world;
  const { key } = await account({ credits: 10, key: { spendingLimit: micro(3_000_000) } });
  await spend(open, admissionOf(key, 2), 2);
  await open.settled();
  await leaveInOldEpoch(world, key);
  t.match(await open.ledger.admit(admissionOf(key, 2)), {
    verdict: 'over_limit',
    spending: [{ spent: 2_000_000 }],
  });
});

test('a charge is not booked on a key of another epoch than its account’s', async (t) => {
  const world = await startLedger(t);
  const { open, account } = world;
  const { key } = await account({ credits: 10 });
  await spend(open, admissionOf(key, 2), 2);
  const admission = admissionOf(key, 1);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail('not held');
  await open.settled();
  await leaveInOldEpoch(world, key);
  open.ledger.settle(chargeOf(admission, 1), () => {});
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 7_000_000, held: 0 });
  t.equal(await spentBy(open.ledger, key, 'monthly'), 3_000_000);
});

test('a hold whose gateway died is released after its deadline, with an entry of charge 0', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const admission = admissionOf(key, 4);
  t.match(await open.ledger.admit(admission), { verdict: 'held' });
  await open.sweep.expireHolds(Date.now());
  t.equal((await open.ledger.account(key.accountId)).held, 4_000_000, 'not before its deadline');
  const later = Date.now() + 24 * 3_600_000;
  await open.sweep.expireHolds(later);
  await open.sweep.expireHolds(later);
  await open.settled();
  t.match(await open.ledger.account(key.accountId), { balance: 10_000_000, held: 0 });
  t.match((await entriesOf(book, key.accountId)).slice(1), [
    { type: 'expired_hold', id: admission.requestId, credits: 0, model: 'flat', keyId: key.id },
  ]);
  t.equal(await raw.hexists(holdsRedisKey(key.accountId % 64), admission.requestId), 0);
});

test('an admission that is given up leaves no hold', async (t) => {
  const { open, account } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const held = admissionOf(key, 4);
  await open.ledger.admit(held);
  open.unanswered.add(held);
  await open.sweep.cancelUnanswered();
  t.equal((await open.ledger.account(key.accountId)).held, 0);
});

/** After this long, the sweep cancels every cancelled call once more. */
const AGAIN_MS = 5_000;

test('an admission that is executed after its cancel is cancelled once more', async (t) => {
  const { open, account } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const late = admissionOf(key, 3);
  open.unanswered.add(late);
  await open.sweep.cancelUnanswered();
  t.match(await open.ledger.admit(late), { verdict: 'held' });
  await open.sweep.cancelUnanswered();
  t.equal((await open.ledger.account(key.accountId)).held, 3_000_000);
  await open.sweep.cancelUnanswered(Date.now() + AGAIN_MS);
  t.equal((await open.ledger.account(key.accountId)).held, 0);
});

test('a cancelled hold that is back on a replica that took over is released again', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const held = admissionOf(key, 4);
  await open.ledger.admit(held);
  const names = [accountRedisKey(key.accountId), keyRedisKey(key.accountId, key.id)];
  const holds = holdsRedisKey(bucketOf(key.accountId));
  const hold = (await raw.hget(holds, held.requestId)) as string;
  open.unanswered.add(held);
  await open.sweep.cancelUnanswered();
  t.equal((await open.ledger.account(key.accountId)).held, 0);
  // The hold as it was before.
  await raw.hset(holds, held.requestId, hold);
  for (const name of names) await raw.hincrby(name, 'held', 4_000_000);
  await open.sweep.cancelUnanswered(Date.now() + AGAIN_MS);
  t.equal((await open.ledger.account(key.accountId)).held, 0);
});

test('a grant whose gateway died before Redis had it is applied by the sweep', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account({ credits: 1 });
  await book.createGrant(
    {
      id: 'grant_orphan',
      accountId: key.accountId,
      amount: micro(2_000_000),
      type: 'top_up',
      note: '',
      createdAt: Date.now() - 60_000,
    },
    null,
  );
  await open.sweep.repair();
  await open.sweep.repair();
  await open.settled();
  await open.sweep.repair();
  t.equal((await open.ledger.account(key.accountId)).balance, 3_000_000);
});

test('a top-up and an adjustment that Redis lost before the book had their entries count again immediately', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  open.drain.abandon();
  const { accountId } = key;
  for (const [type, credits, createdAt] of [
    ['top_up', 5, 1],
    ['adjustment', -12, 2],
  ] as const) {
    const { grant } = await book.createGrant(
      { id: type, accountId, amount: micro(credits * 1e6), type, note: '', createdAt },
      null,
    );
    await open.ledger.grant(grant);
  }
  await raw.flushall();
  t.match(await open.ledger.account(accountId), { balance: 3_000_000 });
  await open.settled();
  t.same(
    (await entriesOf(book, accountId)).map(({ credits, balanceAfter }) => [
      credits / 1e6,
      balanceAfter / 1e6,
    ]),
    [
      [10, 10],
      [5, 15],
      [-12, 3],
    ],
  );
});

test('a top-up that is asked for again when it is in the book, and Redis has lost its marker, gives nothing a second time', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  const { accountId } = key;
  const { grant } = await book.createGrant(
    { id: 'again', accountId, amount: micro(5_000_000), type: 'top_up', note: '', createdAt: 1 },
    null,
  );
  // Done by the sweep, while the gateway that recorded it is paused.
  await open.ledger.grant(grant);
  await open.settled();
  await raw.flushall();
  t.equal(await open.ledger.grant(grant), 15_000_000);
});

test('a change that was committed but never published is published by the sweep', async (t) => {
  const { open, account, book } = await startLedger(t);
  const { key } = await account();
  await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
  await open.sweep.repair();
  t.same(await open.ledger.admit(admissionOf(key, 1)), { verdict: 'stale' });
});

test('a gateway that dies between the book’s commit and the deletion from the journal charges nothing twice', async (t) => {
  const { open, account, book, raw } = await startLedger(t);
  const { key } = await account({ credits: 10 });
  await open.settled();
  open.drain.abandon();
  t.equal(await spend(open, admissionOf(key, 2), 2), 'held');
  // The dying gateway had committed it but not deleted it.
  let journal: [string, string[]][] = [];
  while (journal.length === 0) journal = await raw.xrange(journalRedisKey(key.accountId % 64), '-', '+');
  const entries = journal.map(([, fields]) => parseJournalEntry(fields[1] as string));
  t.same((await book.post(entries)).results, ['posted']);
  await open.drain.drainAll();
  t.equal(await raw.xlen(journalRedisKey(key.accountId % 64)), 0);
  t.same(
    (await entriesOf(book, key.accountId)).map(({ credits }) => credits),
    [10_000_000, -2_000_000],
  );
  t.match(await open.ledger.account(key.accountId), { balance: 8_000_000, held: 0 });
});
