import { test } from 'tap';
import { isExact, load, startLedgerOnCluster } from '../helper/start/ledger-on-cluster.ts';
import type { RedisProcess } from '../helper/start/redis-process.ts';

test('slots that move between masters under load lose no charge and make none twice', async (t) => {
  const world = await startLedgerOnCluster(t);
  const { cluster, accounts, nameOf } = world;
  const traffic = load(world);
  await traffic.more(10);
  for (const to of [1, 2, 0]) {
    for (const { account } of accounts) {
      await cluster.moveSlot(nameOf(account.id), cluster.nodes[to] as RedisProcess);
    }
    await traffic.more(10);
  }
  await traffic.stop();
  t.comment(`refused: ${traffic.refused()}`);
  await isExact(t, world, traffic.tallies);
});
