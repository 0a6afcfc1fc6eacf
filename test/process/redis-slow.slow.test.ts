import { type Test, test } from 'tap';
import { until, untilServed } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

async function startGatewayOnProxiedRedis(t: Test, waitingCalls: number) {
  const redis = await startRedis(t);
  const [proxy, provider] = await Promise.all([
    startTcpProxy(t, redis.port),
    startScriptedProvider({ record: true }),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, REDIS_TIMEOUT_MS: '' };
  const place = makePlace(t, provider.url, env, `limits: { waitingCalls: ${waitingCalls} }\n`);
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000);
  await (await untilServed('a call', () => gateway.chat(owner.key))).text();
  const call = async () => {
    const startedAt = performance.now();
    const response = await gateway.chat(owner.key);
    await response.text();
    const { status, headers } = response;
    return { status, retryAfter: headers.get('retry-after'), tookMs: performance.now() - startedAt };
  };
  return { proxy, provider, gateway, owner, call };
}

const WAITING = 20;
/** The delay on the way to Redis. It shrinks with each burst, because a machine under load adds its own. */
const WAYS_MS = [250, 250, 250, 200, 150, 100, 100, 50, 50, 50, 25, 25, 25, 10, 10, 10];

test('a Redis that takes half a second cannot pile up calls; admitted ones are exact', async (t) => {
  const { proxy, gateway, owner, call } = await startGatewayOnProxiedRedis(t, WAITING);
  let passed = 0;
  let shed = 0;
  // A machine under load may delay a burst so much that little of it is decided in time; then there is another.
  for (const wayMs of WAYS_MS) {
    if (passed >= WAITING && shed >= 100) break;
    // Calls of the burst before count as waiting until Redis has answered them.
    if (shed > 0 && (await untilServed('a call', call)).status === 200) passed++;
    proxy.delay(wayMs);
    const startedAt = performance.now();
    const calls = await Promise.all(Array.from({ length: 200 }, call));
    const tookMs = performance.now() - startedAt;
    proxy.delay(0);
    const held = calls.filter(({ status }) => status === 200);
    const refused = calls.filter(({ status }) => status === 503);
    t.equal(held.length + refused.length, 200);
    t.ok(
      refused.every(({ retryAfter }) => retryAfter !== null),
      'each refusal with Retry-After',
    );
    // A place is free again after one round trip at the earliest, however long the burst takes.
    const most = WAITING * (1 + Math.floor(tookMs / (2 * wayMs)));
    t.ok(held.length <= most, `${held.length} of ${most} that can have waited in ${Math.round(tookMs)} ms`);
    passed += held.length;
    shed += refused.length;
  }
  t.ok(passed >= WAITING, `${passed} waited and passed`);
  t.ok(shed >= 100, `${shed} were refused`);
  const entries = await until('the ledger to have it all', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === passed + 2 && found;
  });
  t.equal(sumOf(entries), (999 - passed) * 1_000_000);
  // Holds of admissions that were given up are released after the calls.
  await until('every hold to be released', async () => (await balanceOf(gateway, owner)).held === 0);
  t.same(await balanceOf(gateway, owner), { balance: 999 - passed, held: 0 });
});

test('a Redis slower than a call may wait gives nothing away, and leaves no hold behind; a slow one is waited for', async (t) => {
  const { proxy, provider, gateway, owner, call } = await startGatewayOnProxiedRedis(t, 1_000);
  const sent = provider.requests.length;
  let [passed, refused] = [0, 0];
  const burst = async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, call));
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    passed += count(200);
    refused += count(503);
    t.equal(count(200) + count(503), 30, 'and nothing else');
    return count(503);
  };
  // A machine under load may delay a burst so much that little of it is in time; then there is another.
  await until('a burst to pass whole, by ways of 0.6 s', async () => {
    proxy.delay(600);
    return (await burst()) === 0;
  });
  const late = refused;
  // Redis executes it in time, but the reply is too late.
  proxy.delay(3_400);
  await burst();
  t.ok(refused - late > 15, `${refused - late} were refused`);
  t.equal(provider.requests.length, sent + passed);
  proxy.delay(0);
  await until('calls to pass again', async () => (await call()).status === 200);
  await until('every hold to be released', async () => (await balanceOf(gateway, owner)).held === 0);
  t.same(await balanceOf(gateway, owner), { balance: 998 - passed, held: 0 });
});
