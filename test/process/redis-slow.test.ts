import { type Test, test } from 'tap';
import { makePlace, startGatewayProcess } from '../helper/gateway-process.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/owner.ts';
import { startRedis } from '../helper/redis-process.ts';
import { startScriptedProvider } from '../helper/scripted-provider.ts';
import { startTcpProxy } from '../helper/tcp-proxy.ts';
import { until } from '../helper/until.ts';

async function startGatewayOnProxiedRedis(t: Test, waitingCalls: number) {
  const redis = await startRedis(t);
  const [proxy, provider] = await Promise.all([
    startTcpProxy(t, redis.port),
    startScriptedProvider({ record: true }),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}` };
  const place = makePlace(t, provider.url, env, `limits: { waitingCalls: ${waitingCalls} }\n`);
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000);
  await (await gateway.chat(owner.key)).text();
  const call = async () => {
    const startedAt = performance.now();
    const response = await gateway.chat(owner.key);
    await response.text();
    const { status, headers } = response;
    return { status, retryAfter: headers.get('retry-after'), tookMs: performance.now() - startedAt };
  };
  return { proxy, provider, gateway, owner, call };
}

test('a Redis that takes half a second gathers no more calls than may wait; those admitted are exact', async (t) => {
  const { proxy, gateway, owner, call } = await startGatewayOnProxiedRedis(t, 20);
  const passed = [];
  // A machine under load may add so much to a burst that nothing of it is decided in time: then there is another.
  for (let burst = 0; burst < 5 && passed.length === 0; burst++) {
    proxy.delay(250);
    const calls = await Promise.all(Array.from({ length: 200 }, call));
    proxy.delay(0);
    passed.push(...calls.filter(({ status }) => status === 200));
    const shed = calls.filter(({ status }) => status === 503);
    t.equal(passed.length + shed.length, 200);
    t.ok(shed.length >= 100, `${shed.length} were refused`);
    t.ok(
      shed.every(({ retryAfter }) => retryAfter !== null),
      'each with Retry-After',
    );
  }
  t.ok(passed.length >= 20, `${passed.length} waited and passed`);
  const entries = await until('the ledger to have it all', async () => {
    // 503 as long as Redis has not answered what was given up, which counts as waiting.
    const found = await ledgerOf(gateway, owner).catch(() => []);
    return found.length === passed.length + 2 && found;
  });
  t.equal(sumOf(entries), (999 - passed.length) * 1_000_000);
  // Holds of admissions that were given up are released after the calls.
  await until('every hold to be released', async () => (await balanceOf(gateway, owner)).held === 0);
  t.same(await balanceOf(gateway, owner), { balance: 999 - passed.length, held: 0 });
});

test('a Redis slower than a call may wait gives nothing away, and leaves no hold behind', async (t) => {
  const { proxy, provider, gateway, owner, call } = await startGatewayOnProxiedRedis(t, 1_000);
  const sent = provider.requests.length;
  proxy.delay(600);
  for (let round = 0; round < 3; round++) {
    const answers = await Promise.all(Array.from({ length: 30 }, call));
    for (const { status } of answers) t.equal(status, 503);
    // The quickest of them: what a machine under load adds to the others is not the gateway's.
    const quickest = Math.min(...answers.map(({ tookMs }) => tookMs));
    t.ok(quickest < 1_500, `${Math.round(quickest)} ms`);
  }
  t.equal(provider.requests.length, sent);
  proxy.delay(0);
  await until('calls to pass again', async () => (await call()).status === 200);
  await until('every hold to be released', async () => (await balanceOf(gateway, owner)).held === 0);
  t.same(await balanceOf(gateway, owner), { balance: 998, held: 0 });
});
