import { type Test, test } from 'tap';
import { refusedSoon, SILENT_WITHIN_MS } from '../helper/check/refused-soon.ts';
import { until, untilServed } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { startSlowProxy } from '../helper/start/slow-proxy.ts';

async function startGatewayOnProxiedRedis(t: Test) {
  const redis = await startRedis(t);
  const [proxy, provider] = await Promise.all([
    startSlowProxy(t, redis.port),
    startScriptedProvider({ record: true }),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: `redis://127.0.0.1:${proxy.port}`, REDIS_TIMEOUT_MS: '' };
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, env));
  const owner = await makeOwner(gateway, 100);
  await (await untilServed('a call', () => gateway.chat(owner.key))).text();
  return { redis, proxy, provider, gateway, owner, unseen: await makeOwner(gateway, 10) };
}

const passes = (gateway: GatewayProcess, key: string) =>
  until('calls to pass again', async () => {
    const response = await gateway.chat(key);
    await response.text();
    return response.status === 200;
  });

for (const how of ['a Redis that hangs', 'a network that swallows everything']) {
  test(`with ${how} calls soon get 503, in either shape, and recover unaided`, async (t) => {
    const { redis, proxy, provider, gateway, owner, unseen } = await startGatewayOnProxiedRedis(t);
    const sent = provider.requests.length;
    const isFrozen = how === 'a Redis that hangs';
    if (isFrozen) redis.freeze();
    else proxy.block();
    // The first round of calls meets a Redis that has just gone silent, the later ones a gateway that has given up its
    // connection.
    for (let round = 0; round < 3; round++) {
      const five = Array.from({ length: 5 });
      const chats = five.map(() => () => gateway.chat(owner.key));
      await refusedSoon(t, chats, { error: { code: 'service_unavailable' } }, SILENT_WITHIN_MS);
      const messages = () => gateway.api('POST', '/v1/messages', unseen.key, { model: 'flat' });
      await refusedSoon(
        t,
        five.map(() => messages),
        { type: 'error', error: { type: 'api_error' } },
        SILENT_WITHIN_MS,
      );
    }
    t.equal(provider.requests.length, sent, 'nothing was sent upstream');
    if (isFrozen) redis.thaw();
    else proxy.unblock();
    await passes(gateway, owner.key);
    const entries = await until(
      'holds of lost admissions to be released, and the ledger to have it all',
      async () => {
        const found = await ledgerOf(gateway, owner);
        return (await balanceOf(gateway, owner)).held === 0 && found.length === 3 && found;
      },
    );
    t.equal(sumOf(entries), 98_000_000);
  });
}
