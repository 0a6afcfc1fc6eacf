import { setImmediate } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { parseRedisUrl } from '../../src/ledger/connect-redis.ts';
import { LedgerUnavailable } from '../../src/ledger/ledger.ts';
import { accountName } from '../../src/ledger/names.ts';
import { accountOn } from '../helper/ledger-account.ts';
import { admissionOf, chargeOf, entriesOf, openLedgerOn, spend } from '../helper/ledger-world.ts';
import { startCluster } from '../helper/redis-cluster.ts';
import type { RedisProcess } from '../helper/redis-process.ts';
import { until } from '../helper/until.ts';

/** Three masters with a replica each, a ledger on them, and one account for each of 12 buckets. */
async function startWorld(t: Test) {
  const cluster = await startCluster(t, { withReplicas: true, nodeTimeoutMs: 1_000 });
  const { book, open } = await openLedgerOn(t, parseRedisUrl(cluster.url));
  const accounts = await Promise.all(
    Array.from({ length: 12 }, () => accountOn(book, open.ledger, { credits: 100_000 })),
  );
  await open.settled();
  const [master, replica] = [cluster.nodes[0], cluster.replicas[0]] as [RedisProcess, RedisProcess];
  const raw = await master.connect();
  const owned = new Set<number>();
  for (const { account } of accounts) {
    if ((await cluster.ownerOf(raw.options.keyPrefix + accountName(account.id))) === master)
      owned.add(account.id);
  }
  t.ok(owned.size > 0 && owned.size < 12, 'some accounts lie on the first master');
  return { cluster, book, open, accounts, master, replica, owned };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/** Calls of 1 credit on every account at once, one after the other in each, until stopped. */
function load({ open, accounts }: World) {
  const tallies = accounts.map(({ key }) => ({ key, held: 0, refused: 0 }));
  let isOn = true;
  const callers = tallies.map(async (tally) => {
    while (isOn) {
      try {
        const verdict = await spend(open, admissionOf(tally.key, 1), 1);
        if (verdict === 'held') tally.held++;
      } catch (error) {
        if (!(error instanceof LedgerUnavailable)) throw error;
        tally.refused++;
        // A refusal can be immediate, and a loop of those would let nothing else happen.
        await setImmediate();
      }
    }
  });
  return {
    tallies,
    /** Resolves when every account has had so many more calls. */
    async more(calls: number) {
      const from = tallies.map(({ held }) => held);
      await until(
        'every account to have had calls',
        () => tallies.every(({ held }, index) => held >= (from[index] as number) + calls),
        30_000,
      );
    },
    async stop() {
      isOn = false;
      await Promise.all(callers);
    },
  };
}

/** Every call that was admitted is charged once, and live and book agree. */
async function isExact(t: Test, { open, book }: World, tallies: ReturnType<typeof load>['tallies']) {
  await open.sweep.cancelLost();
  await open.settled();
  for (const { key, held } of tallies) {
    const charges = await charged(book, key.accountId);
    t.equal(charges, held, `account ${key.accountId}: as many charges as calls`);
    t.same(await open.ledger.account(key.accountId), {
      version: 1,
      isActive: true,
      balance: (100_000 - held) * 1_000_000,
      held: 0,
    });
  }
}

async function charged(book: World['book'], accountId: number): Promise<number> {
  const [row] = await book.usage(accountId, 0, 1_000_000, 'key');
  return row?.calls ?? 0;
}

test('a master killed under load: its replica takes over, calls go on unaided and each is charged once', async (t) => {
  const world = await startWorld(t);
  const traffic = load(world);
  await traffic.more(20);
  await world.master.kill();
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
    const world = await startWorld(t);
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
    t.comment(`refused: ${traffic.tallies.reduce((sum, { refused }) => sum + refused, 0)}`);
    await isExact(t, world, traffic.tallies);
  });
}

/** From now on the replica gets nothing; connections of gateways stay. */
async function cutReplication({ master, replica }: World): Promise<void> {
  const raw = await master.connect();
  await raw.config('SET', 'requirepass', 'nobody-knows');
  await raw.call('CLIENT', 'KILL', 'TYPE', 'replica');
  const other = await replica.connect();
  await until('the replica to be cut off', async () =>
    (await other.info('replication')).includes('master_link_status:down'),
  );
}

async function takeOver({ replica }: World): Promise<void> {
  await (await replica.connect()).call('CLUSTER', 'FAILOVER', 'TAKEOVER');
}

for (const isDrained of [true, false]) {
  const where = isDrained ? 'the book has' : 'nothing but the gateway has';
  test(`charges that a replica had not got when it took over are not lost where ${where} them`, async (t) => {
    const world = await startWorld(t);
    const { open, book, accounts, owned } = world;
    const concerned = accounts.filter(({ account }) => owned.has(account.id));
    await cutReplication(world);
    const inFlight = [];
    for (const { key } of concerned) {
      const admission = admissionOf(key, 5);
      const admitted = await open.ledger.admit(admission);
      if (admitted.verdict !== 'held') return t.fail(admitted.verdict);
      inFlight.push({ admission, epoch: admitted.epoch });
    }
    for (const { key } of concerned) t.equal(await spend(open, admissionOf(key, 3), 3), 'held');
    if (isDrained) await open.settled();
    await world.master.kill();
    await takeOver(world);
    for (const { key } of concerned) {
      const { balance } = await until('the account to be there', () =>
        open.ledger.account(key.accountId).catch(() => undefined),
      );
      t.equal(balance, 99_997_000_000, 'before any call is admitted');
    }
    for (const { admission, epoch } of inFlight) open.ledger.settle(epoch, chargeOf(admission, 5), () => {});
    await open.settled();
    for (const { key } of concerned) {
      t.match(await open.ledger.account(key.accountId), { balance: 99_992_000_000, held: 0 });
      const entries = await entriesOf(book, key.accountId);
      t.same(entries.map(({ credits }) => credits / 1e6).sort(), [-3, -5, 100_000]);
    }
  });
}

test('a deletion that a replica had not got when it took over from a living master is in force at once', async (t) => {
  const world = await startWorld(t);
  const { open, book, accounts, owned } = world;
  const concerned = accounts.filter(({ account }) => owned.has(account.id));
  await cutReplication(world);
  for (const { key } of concerned) {
    const deleted = await book.updateKey(key.accountId, key.id, { isActive: false }, Date.now());
    if (!deleted) return t.fail('no key');
    await open.ledger.publishKey(deleted);
  }
  await takeOver(world);
  // Until the old master hears of it, it answers; then it names the new one.
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

test('slots that move between masters under load lose no charge and make none twice', async (t) => {
  const world = await startWorld(t);
  const { cluster, accounts } = world;
  const traffic = load(world);
  await traffic.more(10);
  const { options } = await world.master.connect();
  for (const to of [1, 2, 0]) {
    for (const { account } of accounts) {
      await cluster.moveSlot(options.keyPrefix + accountName(account.id), cluster.nodes[to] as RedisProcess);
    }
    await traffic.more(10);
  }
  await traffic.stop();
  const refused = traffic.tallies.reduce((sum, tally) => sum + tally.refused, 0);
  t.equal(refused, 0, 'no call was refused');
  await isExact(t, world, traffic.tallies);
});
