import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { accountRedisKey, keyRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { admissionOf, chargeOf, entriesOf, startLedger } from '../helper/ledger.ts';

const CREDIT = 1_000_000;
const CALLS = 1_000;

/** Numbers from a seed (mulberry32), so that a run that fails can be had again. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

for (const overdraft of [0, 5]) {
  test(`1,000 concurrent calls against 2 credits, overdraft ${overdraft}: never below the line`, async (t) => {
    const { open, account, second, book, raw } = await startLedger(t);
    const limits = { spendingLimit: micro(4 * CREDIT), spendingPeriod: 'monthly' } as const;
    const { key } = await account({ credits: 2, overdraft, key: limits });
    const gateways = [open, await second()];
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.comment(`seed ${seed}`);
    const random = numbersFrom(seed);
    let held = 0;
    const call = async (index: number) => {
      const { ledger } = gateways[index % 2] as typeof open;
      // Half of them cost all that they hold, far above their estimates.
      const hold = Math.ceil(random() * 1_500_000) / CREDIT;
      const estimate = micro(Math.floor(hold * CREDIT * random() * 0.2));
      const cost = random() < 0.5 ? hold : Math.floor(hold * random() * CREDIT) / CREDIT;
      const spendingLimit = random() < 0.5 ? null : key.spendingLimit;
      const admission = admissionOf(key, hold, { estimate, spendingLimit });
      const admitted = await ledger.admit(admission);
      if (index === CALLS / 2)
        await raw.del(accountRedisKey(key.accountId), keyRedisKey(key.accountId, key.id));
      if (admitted.verdict !== 'held') return;
      held++;
      await new Promise<void>((resolve) => ledger.settle(admitted.epoch, chargeOf(admission, cost), resolve));
    };
    // In waves, so that balances are met at every height, and between them something to spend.
    for (let wave = 0; wave < 10; wave++) {
      await Promise.all(Array.from({ length: CALLS / 10 }, (_, index) => call(wave * (CALLS / 10) + index)));
    }
    for (const gateway of gateways) await gateway.settled();
    const entries = await entriesOf(book, key.accountId);
    const lowest = Math.min(...entries.map(({ balanceAfter }) => balanceAfter));
    t.ok(held > 0, `${held} were admitted`);
    t.ok(lowest >= -overdraft * CREDIT, `the lowest balance was ${lowest}`);
    t.equal(entries.length, held + 1);
    t.match(await open.ledger.account(key.accountId), {
      balance: entries.reduce((sum, { credits }) => sum + credits, 0),
      held: 0,
      estimated: 0,
    });
    t.same(await open.ledger.keyReserved(key.accountId, key.id), { held: 0, estimated: 0 });
  });
}
