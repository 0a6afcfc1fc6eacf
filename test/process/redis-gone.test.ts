import { test } from 'tap';
import { refusedSoon } from '../helper/check/refused-soon.ts';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startGatewayOnRedis } from '../helper/start/own-servers.ts';

const WAIT = { messages: [{ role: 'user', content: 'wait' }] };

test('without Redis every call soon gets 503 with Retry-After, and none reaches the upstream', async (t) => {
  const { redis, provider, gateway, owner } = await startGatewayOnRedis(t);
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

test('a call that ended while Redis was gone is charged once Redis is back, and once', async (t) => {
  const { redis, provider, gateway, owner, letGo } = await startGatewayOnRedis(t);
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
