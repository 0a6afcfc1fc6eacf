import { test } from 'tap';
import { startBalancer } from '../helper/balancer.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from '../helper/gateway-process.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/owner.ts';
import { createDatabase } from '../helper/postgres.ts';
import { startRedis } from '../helper/redis-process.ts';
import { startScriptedProvider } from '../helper/scripted-provider.ts';
import { until } from '../helper/until.ts';

test('gateways restarted one after the other behind a load balancer fail no call and break no stream', async (t) => {
  const [redis, DATABASE_URL, provider, balancer] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startScriptedProvider({
      behave: ({ body }) => (body.includes('"stream":true') ? { chunks: 30, intervalMs: 50 } : undefined),
    }),
    startBalancer(t),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: redis.url, DATABASE_URL, DRAIN_DELAY_MS: '1500' };
  const start = async () => {
    const gateway = await startGatewayProcess(t, makePlace(t, provider.url, env));
    balancer.add(gateway.url);
    return gateway;
  };
  let gateways: GatewayProcess[] = await Promise.all([start(), start()]);
  const owner = await makeOwner(gateways[0] as GatewayProcess, 1_000_000);
  await until('both to be ready', () => balancer.ready() === 2);

  let isOn = true;
  let ended = 0;
  const failures: string[] = [];
  const call = async (stream: boolean) => {
    const response = await fetch(`${balancer.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'flat', stream, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    const text = await response.text();
    // A busy machine may keep a gateway from Redis for a second: told from a stop by its words.
    if (response.status === 503 && text.includes('cannot decide about this call')) return;
    const isWhole = response.status === 200 && (!stream || text.endsWith('data: [DONE]\n\n'));
    if (!isWhole) failures.push(`${response.status} ${text.slice(-200)}`);
    ended++;
  };
  const caller = async (stream: boolean) => {
    while (isOn) await call(stream).catch((error: Error) => failures.push(String(error.cause ?? error)));
  };
  const callers = [false, false, false, false, true, true, true].map(caller);
  for (let restarts = 0; restarts < 2; restarts++) {
    const [old, ...others] = gateways as [GatewayProcess, ...GatewayProcess[]];
    const before = ended;
    await until('calls', () => ended > before + 20);
    const stopping = old.stop();
    await until('the balancer to see it', () => balancer.ready() === 1);
    t.match(await stopping, { code: 0, errors: '' });
    balancer.remove(old.url);
    gateways = [...others, await start()];
    await until('its successor to be ready', () => balancer.ready() === 2);
  }
  isOn = false;
  await Promise.all(callers);
  t.same(failures, []);

  const [gateway] = gateways as [GatewayProcess, ...GatewayProcess[]];
  const { balance } = await balanceOf(gateway, owner);
  t.equal(balance, 1_000_000 - ended, 'each call is charged');
  await until(
    'the ledger to have it all',
    async () => sumOf(await ledgerOf(gateway, owner)) === balance * 1e6,
  );
});

test('a gateway that is told to stop is not ready at once, and asks for connections to be closed', async (t) => {
  const provider = await startScriptedProvider();
  t.teardown(() => provider.close());
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, { DRAIN_DELAY_MS: '5000' }));
  const owner = await makeOwner(gateway, 10);
  const stopping = gateway.stop();
  await until('it to be draining', async () => {
    const response = await fetch(`${gateway.url}/readyz`);
    return response.status === 503 && ((await response.json()) as { status: string }).status === 'draining';
  });
  for (const response of [
    await gateway.served(owner.key),
    await gateway.served(owner.key, { stream: true }),
  ]) {
    t.equal(response.status, 200);
    t.equal(response.headers.get('connection'), 'close');
    await response.text();
  }
  t.match(await stopping, { code: 0 });
});
