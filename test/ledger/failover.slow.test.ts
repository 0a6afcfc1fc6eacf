import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { hasEntry } from '../helper/fixtures/book-records.ts';
import { admissionOf, chargeOf } from '../helper/start/ledger.ts';
import { isExact, load, startLedgerOnCluster } from '../helper/start/ledger-on-cluster.ts';

test('a master killed under load: its replica takes over, calls go on unaided and each is charged once', async (t) => {
  const world = await startLedgerOnCluster(t);
  const traffic = load(world);
  await traffic.more(20);
  await world.master.kill();
  await t.resolves(world.open.check(), 'the gateway stays ready');
  await traffic.more(20);
  await traffic.stop();
  const suffered = traffic.tallies.filter(({ refused }) => refused > 0).map(({ key }) => key.accountId);
  t.ok(
    suffered.every((id) => world.owned.has(id)),
    'only accounts of that node were refused',
  );
  await isExact(t, world, traffic.tallies);
});

for (const how of ['FAILOVER', 'FAILOVER TAKEOVER'] as const) {
  test(`CLUSTER ${how} under load loses no charge and makes none twice`, async (t) => {
    const world = await startLedgerOnCluster(t);
    const traffic = load(world);
    await traffic.more(20);
    const [command, ...more] = how.split(' ') as ['FAILOVER', ...'TAKEOVER'[]];
    const raw = await world.replica.connect();
    await raw.call('CLUSTER', command, ...more);
    await until('the replica to be the master', async () =>
      (await raw.info('replication')).includes('role:master'),
    );
    await traffic.more(20);
    await traffic.stop();
    t.comment(`refused: ${traffic.refused()}`);
    await isExact(t, world, traffic.tallies);
  });
}

for (const how of ['goes on idle', 'stops'] as const) {
  test(`charges that a hung master takes after its replica took over are repeated by a gateway that ${how}`, async (t) => {
    const { accounts, owned, master, replica, open, book } = await startLedgerOnCluster(t);
    const admissions = accounts
      .filter(({ key }) => owned.has(key.accountId))
      .map(({ key }) => admissionOf(key, 1));
    for (const admission of admissions) await open.ledger.admit(admission);
    const raw = await replica.connect();
    master.freeze();
    for (const admission of admissions) open.ledger.settle(chargeOf(admission, 1), () => {});
    await raw.call('CLUSTER', 'FAILOVER', 'TAKEOVER');
    await until('the replica to be the master', async () =>
      (await raw.info('replication')).includes('role:master'),
    );
    master.thaw();
    await until('the settles to be answered', () => open.openSettlements() === 0);
    if (how === 'stops') await open.close(30_000);
    for (const { requestId } of admissions)
      await until('the book to have the charge', () => hasEntry(book, requestId));
    for (const { accountId } of admissions)
      t.match(await book.usage(accountId, 0, 1_000_000, 'key'), [{ calls: 1 }]);
  });
}
