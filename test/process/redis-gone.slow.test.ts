import { test } from 'tap';
import { bucketOf, journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, sumOf } from '../helper/clients/owner.ts';
import type { GatewayProcess } from '../helper/start/gateway-process.ts';
import { startGatewayOnRedis } from '../helper/start/own-servers.ts';

const passes = (gateway: GatewayProcess, key: string) =>
  until('calls to pass again', async () => {
    const response = await gateway.chat(key);
    await response.text();
    return response.status === 200;
  });

test('when Redis is back, calls go on without a restart of the gateway, and nothing is lost', async (t) => {
  const { redis, gateway, owner } = await startGatewayOnRedis(t);
  for (let calls = 0; calls < 5; calls++) await (await gateway.chat(owner.key)).text();
  for (let round = 0; round < 3; round++) {
    await redis.kill();
    t.equal((await gateway.chat(owner.key)).status, 503);
    await redis.start();
    await passes(gateway, owner.key);
  }
  const entries = await until('the ledger to have every charge', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === 9 && found;
  });
  t.equal(sumOf(entries), 92_000_000);
  t.same(await balanceOf(gateway, owner), { balance: 92, held: 0 });
});

test('a Redis that comes back empty costs nothing but the journal’s lag: balances come from the book', async (t) => {
  const { redis, gateway, owner } = await startGatewayOnRedis(t);
  for (let calls = 0; calls < 5; calls++) await (await gateway.chat(owner.key)).text();
  await until('the book to have it all', async () => (await ledgerOf(gateway, owner)).length === 6);
  const raw = await redis.connect();
  await until(
    'the journal to be empty',
    async () => (await raw.xlen(journalRedisKey(bucketOf(owner.accountId)))) === 0,
  );
  await raw.flushall();
  await redis.kill();
  await redis.start();
  await passes(gateway, owner.key);
  t.match(await balanceOf(gateway, owner), { balance: 94, held: 0 });
});
