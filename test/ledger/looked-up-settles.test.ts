import { test } from 'tap';
import { bucketOf } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { admissionOf, chargeOf, spend, startLedger } from '../helper/start/ledger.ts';

const HOUR_MS = 3_600_000;

test('settles that were looked up after a lost connection are forgotten with time, like any other', async (t) => {
  const { open, account, raw } = await startLedger(t);
  const { key } = await account();
  const lookUps: string[][] = [];
  const entriesAmong = open.drain.entriesAmong.bind(open.drain);
  open.drain.entriesAmong = (bucket, ids) => {
    if (bucket === bucketOf(key.accountId)) lookUps.push([...ids]);
    return entriesAmong(bucket, ids);
  };
  /** Cuts the ledger's connections. Resolves with the settles that it looked up before it opened again. */
  const lookedUp = async () => {
    lookUps.length = 0;
    await raw.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await until('the settles to be looked up', () => lookUps.length > 0);
    await until('the ledger to be open', () => open.ledger.account(key.accountId).catch(() => undefined));
    return lookUps.at(-1);
  };
  const [first, second] = [admissionOf(key, 1), admissionOf(key, 1)];
  t.equal(await spend(open, first, 1), 'held');
  await until('it to be answered', () => open.openSettlements() === 0);
  t.same(await lookedUp(), [first.requestId]);
  t.match(await open.ledger.admit(second), { verdict: 'held' });
  const now = performance.now.bind(performance);
  performance.now = () => now() + HOUR_MS;
  t.teardown(() => {
    performance.now = now;
  });
  open.ledger.settle(chargeOf(second, 1), () => {});
  await until('it to be answered', () => open.openSettlements() === 0);
  performance.now = now;
  t.same(await lookedUp(), [second.requestId]);
});
