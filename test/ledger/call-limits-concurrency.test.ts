import { test } from 'tap';
import { callWith, changeAccount, changeKey } from '../helper/fixtures/call-limits.ts';
import { chargeOf, startLedger } from '../helper/start/ledger.ts';

test('of 500 concurrent calls over two gateways exactly the limit is in flight, never one more', async (t) => {
  const { open, account, second } = await startLedger(t);
  const { key } = await account({ credits: 1_000, key: { maxParallelRequests: 5 } });
  const ledgers = [open.ledger, (await second()).ledger] as const;
  const inFlight: (() => Promise<void>)[] = [];
  const burst = async (calls: number) => {
    const verdicts = await Promise.all(
      Array.from({ length: calls }, async (_, index) => {
        const ledger = ledgers[index % 2 ? 1 : 0];
        const admission = callWith(key, { hold: index % 3 ? 1_000_000 : 0 });
        const admitted = await ledger.admit(admission);
        if (admitted.verdict === 'held') {
          t.ok((admitted.limits?.key.parallel?.open ?? 6) <= 5);
          inFlight.push(() => new Promise((resolve) => ledger.settle(chargeOf(admission, 0), resolve)));
        }
        return admitted.verdict;
      }),
    );
    return verdicts.filter((verdict) => verdict === 'held').length;
  };
  t.equal(await burst(500), 5);
  for (const [round, ending] of [1, 5, 2, 3, 4, 5].entries()) {
    await Promise.all(inFlight.splice(0, ending).map((settle) => settle()));
    t.equal(await burst(40), ending, `round ${round}: as many as have ended`);
  }
  t.match(await open.ledger.limitStates(key.accountId, key.id), { key: { parallel: { open: 5 } } });
});

test('over two gateways the requests of any window fit the bucket, and a burst fills it', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ key: { rpmLimit: 90 } });
  const owner = await changeAccount(world, key.accountId, { tpmLimit: 700 });
  const ledgers = [world.open.ledger, (await world.second()).ledger] as const;
  const now = async () => {
    const [seconds, microseconds] = (await world.raw.time()).map(Number) as [number, number];
    return seconds * 1_000 + microseconds / 1_000;
  };
  const start = await now();
  const held = { calls: 0, tokens: 0 };
  for (let round = 0; round < 12; round++) {
    await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const tokens = index % 20;
        const call = callWith(key, { tokens, hold: 0, owner });
        const { verdict } = await ledgers[index % 2 ? 1 : 0].admit(call);
        if (verdict !== 'held') return;
        held.calls++;
        held.tokens += tokens;
      }),
    );
    const window = (await now()) - start + 1;
    t.ok(held.calls <= 90 + (90 * window) / 60_000, `${held.calls} calls in ${window} ms`);
    t.ok(held.tokens <= 700 + (700 * window) / 60_000, `${held.tokens} tokens in ${window} ms`);
  }
  t.ok(held.calls >= 90);
});

test('while limits change under load, calls in flight are never more than the largest of them', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ key: { maxParallelRequests: 3 } });
  const ledgers = [world.open.ledger, (await world.second()).ledger] as const;
  let current = key;
  let isOn = true;
  let [inFlight, most, held] = [0, 0, 0];
  const callers = Array.from({ length: 30 }, async (_, index) => {
    const ledger = ledgers[index % 2 ? 1 : 0];
    while (isOn) {
      const call = callWith(current, { hold: 0 });
      const admitted = await ledger.admit(call);
      if (admitted.verdict !== 'held') continue;
      held++;
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
      await new Promise<void>((resolve) => ledger.settle(chargeOf(call, 0), resolve));
    }
  });
  for (let change = 0; change < 30; change++) {
    current = await changeKey(world, key, { maxParallelRequests: [2, 3, 1][change % 3] as number });
  }
  isOn = false;
  await Promise.all(callers);
  t.ok(held > 30 && most >= 1);
  t.ok(most <= 3, `${most} at once`);
  await world.open.settled();
  for (const ledger of ledgers) await ledger.flush('all', 5_000);
  t.match(await world.open.ledger.limitStates(key.accountId, key.id), { key: { parallel: { open: 0 } } });
});
