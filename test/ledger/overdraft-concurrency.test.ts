import { randomUUID } from 'node:crypto';
import { type Test, test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import type { KeyRecord } from '../../src/domain/key.ts';
import type { OpenLedger } from '../../src/ledger/open-ledger.ts';
import { accountRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import {
  admissionOf,
  chargeOf,
  entriesOf,
  spentBy,
  startLedger,
  type TestLedger,
} from '../helper/start/ledger.ts';
import { SEED } from '../helper/suite/fast-check.ts';

const CREDIT = 1_000_000;
const CALLS = 1_000;
/** A credit is added after this many calls, so that later calls meet a balance near 0 again. */
const CALLS_A_TOP_UP = 50;

/** Numbers from 0 to 1 from a seed (mulberry32), so that a failed run can be repeated. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function seeded(t: Test): () => number {
  t.comment(`seed ${SEED}`);
  return numbersFrom(SEED);
}

/**
 * Makes a call of up to 1.5 credits; half of the calls cost their whole hold, far above their estimate. Resolves with
 * whether it was admitted.
 */
async function drawnCall({ ledger }: OpenLedger, key: KeyRecord, random: () => number): Promise<boolean> {
  const hold = Math.ceil(random() * 1_500_000);
  const cost = random() < 0.5 ? hold : Math.floor(hold * random());
  const estimate = micro(Math.floor(hold * random() * 0.2));
  const admission = admissionOf(key, hold / CREDIT, { estimate });
  const admitted = await ledger.admit(admission);
  if (admitted.verdict !== 'held') return false;
  await new Promise<void>((resolve) => ledger.settle(chargeOf(admission, cost / CREDIT), resolve));
  return true;
}

async function topUp({ book, open }: Pick<TestLedger, 'book' | 'open'>, { accountId }: KeyRecord) {
  const of = { accountId, amount: micro(CREDIT), type: 'top_up', note: '', createdAt: Date.now() } as const;
  const { grant } = await book.createGrant({ ...of, id: randomUUID() }, null);
  await open.ledger.grant(grant);
}

for (const overdraft of [0, 5]) {
  test(`1,000 concurrent calls against a balance near 0, overdraft ${overdraft}: never below the line`, async (t) => {
    const world = await startLedger(t);
    const { open, account, second, book, raw } = world;
    const { key } = await account({ credits: 2, overdraft });
    const gateways = [open, await second()] as const;
    const random = seeded(t);
    const call = async (index: number) => {
      if (index % CALLS_A_TOP_UP === 0) await topUp(world, key);
      // In the middle, a part of Redis is lost and rebuilt.
      if (index === CALLS / 2)
        await raw.del(accountRedisKey(key.accountId), keyRedisKey(key.accountId, key.id));
      return await drawnCall(gateways[index % 2 === 0 ? 0 : 1], key, random);
    };
    const admitted = await Promise.all(Array.from({ length: CALLS }, (_, index) => call(index)));
    const calls = admitted.filter(Boolean).length;
    for (const gateway of gateways) await gateway.settled();
    const entries = await entriesOf(book, key.accountId);
    const lowest = Math.min(...entries.map(({ balanceAfter }) => balanceAfter));
    t.comment(`${calls} calls were admitted; the lowest balance was ${lowest}`);
    t.ok(calls > 0);
    t.ok(lowest >= -overdraft * CREDIT);
    t.equal(entries.filter(({ type }) => type === 'charge').length, calls);
    t.match(await open.ledger.account(key.accountId), {
      balance: entries.reduce((sum, { credits }) => sum + credits, 0),
      held: 0,
      estimated: 0,
    });
    t.same(await open.ledger.reserved(key.accountId, key.id), { held: 0, estimated: 0 });
  });

  test(`1,000 concurrent calls against a spending limit, overdraft ${overdraft}: never above the line`, async (t) => {
    const { open, account, second } = await startLedger(t);
    const limits = { spendingLimit: micro(10 * CREDIT), spendingPeriod: 'monthly' } as const;
    const { key } = await account({ credits: 1_000, overdraft, key: limits });
    const gateways = [open, await second()] as const;
    const random = seeded(t);
    await Promise.all(
      Array.from({ length: CALLS }, (_, index) => drawnCall(gateways[index % 2 === 0 ? 0 : 1], key, random)),
    );
    for (const gateway of gateways) await gateway.settled();
    const spent = await spentBy(open.ledger, key, 'monthly');
    t.comment(`${spent} were spent`);
    t.ok(spent > 5 * CREDIT);
    t.ok(spent <= (10 + overdraft) * CREDIT);
    t.same(await open.ledger.reserved(key.accountId, key.id), { held: 0, estimated: 0 });
  });
}
