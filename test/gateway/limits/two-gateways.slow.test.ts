import { setTimeout as sleep } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { apiOf } from '../../helper/clients/api.ts';
import { makeOwner } from '../../helper/clients/owner.ts';
import { startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../../helper/start/gateway-process.ts';
import { createDatabase } from '../../helper/start/postgres-database.ts';
import { startRedis } from '../../helper/start/redis-process.ts';

const CLIENTS = 500;
const LIMIT = 5;

/**
 * Two gateways on one Redis and one PostgreSQL, and a provider that counts its open calls. Its first answers wait until
 * all slots are taken, which might otherwise never happen on a slow machine.
 */
async function start(t: Test) {
  const seen = { open: 0, most: 0, calls: 0 };
  const full = Promise.withResolvers<void>();
  const provider = await startScriptedProvider({
    record: false,
    behave: async () => {
      seen.calls++;
      seen.open++;
      seen.most = Math.max(seen.most, seen.open);
      if (seen.open >= LIMIT) full.resolve();
      await full.promise;
      await sleep(2);
      seen.open--;
      return undefined;
    },
  });
  t.teardown(() => provider.close());
  const [redis, DATABASE_URL] = await Promise.all([startRedis(t), createDatabase()]);
  const gateway = () =>
    startGatewayProcess(t, makePlace(t, provider.url, { REDIS_URL: redis.url, DATABASE_URL }));
  const gateways = await Promise.all([gateway(), gateway()]);
  const owner = await makeOwner(gateways[0], 100_000);
  const made = await apiOf(gateways[1], owner.key).post<{ key: string }>('/api/keys/', {
    name: 'limited',
    max_parallel_requests: LIMIT,
  });
  const call = async (client: number) => {
    const response = await (gateways[client % 2] as (typeof gateways)[0]).chat(made.body.key);
    await response.text();
    return response;
  };
  return { seen, call };
}

test(`${CLIENTS} clients over two gateways never have more than ${LIMIT} calls in flight`, async (t) => {
  const { seen, call } = await start(t);
  let refused = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (;;) {
        const { status, headers } = await call(client);
        if (status === 200) return;
        if (status !== 429 || headers.get('retry-after-ms') !== '1000')
          throw new Error(`unexpected ${status}`);
        refused++;
        // Sooner than `retry-after` says, so that there are always more calls than slots.
        await sleep(200 + client);
      }
    }),
  );
  t.equal(seen.calls, CLIENTS);
  t.equal(seen.most, LIMIT, 'all slots were used, and none twice');
  t.ok(refused > 0);
});
