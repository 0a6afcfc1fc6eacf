import { setImmediate } from 'node:timers/promises';
import type { Test } from 'tap';
import { parseRedisUrl } from '../../../src/config/redis-url.ts';
import { LedgerUnavailable } from '../../../src/ledger/ledger.ts';
import { accountRedisKey, redisKeyPrefix } from '../../../src/ledger/redis/redis-keys.ts';
import { until } from '../check/until.ts';
import { admissionOf, openLedgerOn, spend } from './ledger.ts';
import { accountOn } from './ledger-account.ts';
import { startCluster } from './redis-cluster.ts';
import type { RedisProcess } from './redis-process.ts';

/** Starts three masters with a replica each, a ledger on them, and one account in each of 12 buckets. */
export async function startLedgerOnCluster(t: Test, options: { waitReplicas?: number } = {}) {
  const cluster = await startCluster(t, { withReplicas: true, nodeTimeoutMs: 1_000 });
  const { book, open } = await openLedgerOn(t, parseRedisUrl(cluster.url), options);
  const accounts = await Promise.all(
    Array.from({ length: 12 }, () => accountOn(book, open.ledger, { credits: 100_000 })),
  );
  await open.settled();
  const [master, replica] = [cluster.nodes[0], cluster.replicas[0]] as [RedisProcess, RedisProcess];
  const nameOf = (accountId: number) => redisKeyPrefix(book.id) + accountRedisKey(accountId);
  const owned = new Set<number>();
  for (const { account } of accounts) {
    if ((await cluster.ownerOf(nameOf(account.id))) === master) owned.add(account.id);
  }
  t.ok(owned.size > 0 && owned.size < 12, 'some accounts lie on the first master');
  return { cluster, book, open, accounts, master, replica, owned, nameOf };
}

export type LedgerOnCluster = Awaited<ReturnType<typeof startLedgerOnCluster>>;

/** Makes calls of 1 credit until stopped: concurrently on all accounts, sequentially on each. */
export function load({ open, accounts }: LedgerOnCluster) {
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
        // A refusal can be immediate; a loop of these would block the event loop.
        await setImmediate();
      }
    }
  });
  return {
    tallies,
    refused: () => tallies.reduce((sum, { refused }) => sum + refused, 0),
    /** Resolves when every account has had `calls` more calls. */
    async more(calls: number) {
      const from = tallies.map(({ held }) => held);
      await until('every account to have had calls', () =>
        tallies.every(({ held }, index) => held >= (from[index] as number) + calls),
      );
    },
    async stop() {
      isOn = false;
      await Promise.all(callers);
    },
  };
}

/** Checks that every admitted call is charged once, and that Redis and the book agree. */
export async function isExact(
  t: Test,
  { open, book }: LedgerOnCluster,
  tallies: ReturnType<typeof load>['tallies'],
) {
  await open.sweep.cancelUnanswered();
  await open.settled();
  for (const { key, held } of tallies) {
    const charges = await charged(book, key.accountId);
    t.equal(charges, held, `account ${key.accountId}: as many charges as calls`);
    t.same(await open.ledger.account(key.accountId), {
      balance: (100_000 - held) * 1_000_000,
      held: 0,
      estimated: 0,
      overdraft: 0,
    });
  }
}

async function charged(book: LedgerOnCluster['book'], accountId: number): Promise<number> {
  const [row] = await book.usage(accountId, 0, 1_000_000, 'key');
  return row?.calls ?? 0;
}
