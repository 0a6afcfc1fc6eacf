import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { serversOn } from '../../src/redis-server/leftover.ts';
import { socketPathFor } from '../../src/redis-server/socket.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, type Owner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider, startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  type GatewayProcess,
  makePlace,
  type Place,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const isGone = ({ dataDir }: Place) =>
  until('the private Redis to be gone', async () => {
    return (await serversOn(socketPathFor(join(dataDir, 'redis')))).length === 0;
  });

test('a stream in flight at SIGTERM is finished and charged, and the private Redis goes with the gateway', async (t) => {
  const provider = await startScriptedProvider({ behave: () => ({ chunks: 40, intervalMs: 25 }) });
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 10);
  const response = await gateway.chat(owner.key, { stream: true });
  const ended = gateway.stop();
  const text = await response.text();
  t.ok(text.endsWith('data: [DONE]\n\n'), 'the stream came whole');
  const endedAt = performance.now();
  t.match(await ended, { code: 0, signal: null, errors: '' });
  t.ok(performance.now() - endedAt < 60_000, 'the connection that the client keeps is not waited for');
  await isGone(place);
  t.notOk(existsSync(socketPathFor(join(place.dataDir, 'redis'))), 'no socket is left');

  const again = await startGatewayProcess(t, place);
  t.same(await balanceOf(again, owner), { balance: 9, held: 0 });
  t.match(await ledgerOf(again, owner), [{ type: 'charge', outcome: 'complete' }, { type: 'top_up' }]);
});

test('after a stop nothing is left in the journal', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const redis = await startRedis(t);
  const place = makePlace(t, provider.url, { REDIS_URL: redis.url });
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 100);
  const calls = Array.from({ length: 30 }, () =>
    gateway.chat(owner.key, { messages: [{ role: 'user', content: 'wait' }] }),
  );
  await provider.request(29);
  const ended = gateway.stop();
  letGo();
  const statuses = await Promise.all(calls.map(async (call) => (await call).status));
  t.same(new Set(statuses), new Set([200]));
  t.match(await ended, { code: 0 });
  const raw = await redis.connect();
  const lengths = await Promise.all(
    Array.from({ length: 64 }, (_, bucket) => raw.xlen(journalRedisKey(bucket))),
  );
  t.equal(Math.max(...lengths), 0);
});

test('new connections are refused while a stop waits for a call', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url));
  const owner = await makeOwner(gateway, 10);
  const waiting = gateway.chat(owner.key, { messages: [{ role: 'user', content: 'wait' }] });
  await provider.request(0);
  const ended = gateway.stop();
  await until('new connections to be refused', () =>
    fetch(`${gateway.url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  letGo();
  t.equal((await waiting).status, 200);
  t.match(await ended, { code: 0 });
});

for (const [how, end] of [
  ['stop', (gateway: GatewayProcess) => gateway.stop()],
  ['kill', (gateway: GatewayProcess) => gateway.kill()],
] as const) {
  test(`balances, keys and ledger are there after a ${how} and a start`, async (t) => {
    const provider = await startScriptedProvider();
    t.teardown(() => provider.close());
    const place = makePlace(t, provider.url);
    const first = await startGatewayProcess(t, place);
    const owner = await makeOwner(first, 100);
    await apiOf(first, owner.key).post('/api/keys/', { name: 'second', spending_limit: 5 });
    for (let calls = 0; calls < 10; calls++) await (await first.chat(owner.key)).text();
    const before = await state(first, owner);
    await end(first);

    const second = await startGatewayProcess(t, place);
    const after = await until('the journal to be drained', async () => {
      const found = await state(second, owner);
      return found.entries.length === 11 && found;
    });
    t.same(after.keys, before.keys);
    t.same(after.balance, { balance: 90, held: 0 });
    t.same(after.balance, before.balance);
    t.equal(sumOf(after.entries), 90_000_000);
    t.equal((await second.chat(owner.key)).status, 200);
  });
}

async function state(gateway: GatewayProcess, owner: Owner) {
  const { body } = await apiOf(gateway, owner.key).get<{ keys: unknown[] }>('/api/keys/');
  return {
    keys: body.keys,
    balance: await balanceOf(gateway, owner),
    entries: await ledgerOf(gateway, owner),
  };
}
