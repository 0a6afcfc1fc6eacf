import { type Test, test } from 'tap';
import { bucketOf, journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { refusedSoon } from '../helper/check/refused-soon.ts';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/** A gateway on the test's own Redis, and a provider that holds its answers to "wait" until they are released. */
async function startGatewayInProcess(t: Test) {
  const redis = await startRedis(t);
  const { provider, letGo } = await startWaitingProvider(t);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, { REDIS_URL: redis.url }));
  const owner = await makeOwner(gateway, 100);
  return { redis, provider, gateway, owner, letGo };
}

const WAIT = { messages: [{ role: 'user', content: 'wait' }] };

const passes = (gateway: GatewayProcess, key: string) =>
  until('calls to pass again', async () => {
    const response = await gateway.chat(key);
    await response.text();
    return response.status === 200;
  });

test('without Redis every call soon gets 503 with Retry-After, and none reaches the upstream', async (t) => {
  const { redis, provider, gateway, owner } = await startGatewayInProcess(t);
  await (await gateway.chat(owner.key)).text();
  const other = await makeOwner(gateway, 10);
  await redis.kill();
  const before = provider.requests.length;
  // One key that the gateway has cached, one that it has never seen.
  for (const key of [owner.key, other.key]) {
    const calls = Array.from({ length: 10 }, () => () => gateway.chat(key));
    await refusedSoon(t, calls, { error: { code: 'service_unavailable' } });
  }
  t.equal(provider.requests.length, before);
  const ready = await fetch(`${gateway.url}/readyz`);
  t.equal(ready.status, 503);
  t.equal((await fetch(`${gateway.url}/healthz`)).status, 200, 'the process lives');
});

test('when Redis is back, calls go on without a restart of the gateway, and nothing is lost', async (t) => {
  const { redis, gateway, owner } = await startGatewayInProcess(t);
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

test('a call that ended while Redis was gone is charged once Redis is back, and once', async (t) => {
  const { redis, provider, gateway, owner, letGo } = await startGatewayInProcess(t);
  const calls = Array.from({ length: 10 }, () => gateway.chat(owner.key, WAIT));
  await provider.request(9);
  await redis.kill();
  letGo();
  const answers = await Promise.all(calls);
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]), 'the client waits for nothing');
  await redis.start();
  const charges = await until('every call to be charged', async () => {
    const found = (await ledgerOf(gateway, owner)).filter(({ type }) => type === 'charge');
    return found.length >= 10 && found;
  });
  const ids = answers.map(({ headers }) => headers.get('x-request-id'));
  t.same(new Set(charges.map(({ id }) => id)), new Set(ids));
  t.equal(charges.length, 10);
  t.same(await balanceOf(gateway, owner), { balance: 90, held: 0 });
});

test('a Redis that comes back empty costs nothing but the journal’s lag: balances come from the book', async (t) => {
  const { redis, gateway, owner } = await startGatewayInProcess(t);
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
