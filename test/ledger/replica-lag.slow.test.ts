import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { admissionOf, chargeOf, entriesOf, spend } from '../helper/start/ledger.ts';
import { type LedgerOnCluster, startLedgerOnCluster } from '../helper/start/ledger-on-cluster.ts';

/** From now on the replica gets nothing; the gateways' connections stay. */
async function cutReplication({ master, replica }: LedgerOnCluster): Promise<void> {
  const raw = await master.connect();
  await raw.config('SET', 'requirepass', 'nobody-knows');
  await raw.call('CLIENT', 'KILL', 'TYPE', 'replica');
  const other = await replica.connect();
  await until('the replica to be cut off', async () =>
    (await other.info('replication')).includes('master_link_status:down'),
  );
}

async function takeOver({ replica }: LedgerOnCluster): Promise<void> {
  await (await replica.connect()).call('CLUSTER', 'FAILOVER', 'TAKEOVER');
}

for (const isDrained of [true, false]) {
  const where = isDrained ? 'the book has' : 'nothing but the gateway has';
  test(`charges that a replica had not got when it took over are not lost where ${where} them`, async (t) => {
    const world = await startLedgerOnCluster(t);
    const { open, book, accounts, owned } = world;
    const concerned = accounts.filter(({ account }) => owned.has(account.id));
    await cutReplication(world);
    const inFlight = [];
    for (const { key } of concerned) {
      const admission = admissionOf(key, 5);
      const admitted = await open.ledger.admit(admission);
      if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
      inFlight.push(admission);
    }
    for (const { key } of concerned) t.equal(await spend(open, admissionOf(key, 3), 3), 'held');
    // A command without an answer is sent again, a moment after the connection is back.
    await until('every settle to be answered', () => open.openSettlements() === 0);
    if (isDrained) await open.settled();
    await world.master.kill();
    await takeOver(world);
    for (const { key } of concerned) {
      const { balance } = await until('the account to be there', () =>
        open.ledger.account(key.accountId).catch(() => undefined),
      );
      t.equal(balance, 99_997_000_000, 'before any call is admitted');
    }
    for (const admission of inFlight) open.ledger.settle(chargeOf(admission, 5), () => {});
    await open.settled();
    for (const { key } of concerned) {
      t.match(await open.ledger.account(key.accountId), { balance: 99_992_000_000, held: 0 });
      const entries = await entriesOf(book, key.accountId);
      t.same(entries.map(({ credits }) => credits / 1e6).sort(), [-3, -5, 100_000]);
    }
  });
}

test('a deletion that a promoted replica had not received takes effect immediately', async (t) => {
  const world = await startLedgerOnCluster(t);
  const { open, book, accounts, owned } = world;
  const concerned = accounts.filter(({ account }) => owned.has(account.id));
  await cutReplication(world);
  for (const { key } of concerned) {
    const deleted = await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
    if (!deleted) return t.fail('no key');
    await open.ledger.publishKey(deleted);
  }
  await takeOver(world);
  // The old master answers until it learns of the takeover; then it names the new one.
  for (let calls = 0; calls < 50; calls++) {
    const verdicts = concerned.map(({ key }) =>
      open.ledger.admit(admissionOf(key, 1)).then(
        ({ verdict }) => verdict,
        () => 'refused',
      ),
    );
    for (const verdict of await Promise.all(verdicts)) t.not(verdict, 'held');
  }
  const raw = await world.replica.connect();
  t.match(await raw.info('replication'), /role:master/);
});

test('with REDIS_WAIT_REPLICAS no call goes on whose hold is on one node only', async (t) => {
  const world = await startLedgerOnCluster(t, { waitReplicas: 1 });
  const { open, accounts, owned } = world;
  const concerned = accounts.filter(({ account }) => owned.has(account.id));
  for (const { key } of accounts) t.equal(await spend(open, admissionOf(key, 1), 1), 'held');
  await cutReplication(world);
  for (const { key, account } of accounts) {
    const admitted = spend(open, admissionOf(key, 1), 1);
    if (owned.has(account.id)) await t.rejects(admitted, { message: /replicas/ });
    else t.equal(await admitted, 'held');
  }
  await open.sweep.cancelUnanswered();
  for (const { account } of concerned) t.match(await open.ledger.account(account.id), { held: 0 });
});

test('a master that may not write without a replica admits nothing, and charges calls in flight', async (t) => {
  const world = await startLedgerOnCluster(t);
  const { open, accounts, owned } = world;
  const [{ key }] = accounts.filter(({ account }) => owned.has(account.id)) as [(typeof accounts)[0]];
  const admission = admissionOf(key, 2);
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
  // Before the test sets the password that keeps the replica out.
  const raw = await world.master.connect();
  await cutReplication(world);
  await raw.config('SET', 'min-replicas-to-write', '1');
  await t.rejects(open.ledger.admit(admissionOf(key, 1)), { message: /no answer to an admission/ });
  open.ledger.settle(chargeOf(admission, 2), () => {});
  await until('the settle to be refused', () => open.openSettlements() === 1);
  await raw.config('SET', 'min-replicas-to-write', '0');
  await open.settled();
  await open.sweep.cancelUnanswered();
  t.match(await open.ledger.account(key.accountId), { balance: 99_998_000_000, held: 0 });
});
