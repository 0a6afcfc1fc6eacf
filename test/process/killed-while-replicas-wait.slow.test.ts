import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { call, callAgent, type EndedCall } from '../helper/clients/ended-calls.ts';
import { ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/**
 * Redis reads no more from a connection that waits for replicas, and drops what arrived meanwhile if the connection
 * ends.
 */
test('a call that ends while others wait for a replica is charged, though the gateway is killed then', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const redis = await startRedis(t);
  const replica = await startRedis(t, { replicaof: `127.0.0.1 ${redis.port}` });
  const place = makePlace(t, provider.url, {
    REDIS_URL: redis.url,
    REDIS_WAIT_REPLICAS: '1',
    REDIS_TIMEOUT_MS: '',
    DATABASE_URL: await createDatabase(),
  });
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000);
  const raw = await redis.connect();
  await until('the replica to follow', async () =>
    (await (await replica.connect()).info('replication')).includes('master_link_status:up'),
  );
  const agent = callAgent(32);
  // A busy machine may refuse a call (503) because the replica is late.
  let first: Promise<EndedCall>;
  let hasCome = false;
  do {
    const come = provider.request(provider.requests.length).then(() => true);
    const onEnd = (status: number | undefined) => {
      if (status === 200) process.kill(gateway.pid, 'SIGKILL');
    };
    first = call(gateway.url, owner.key, { user: 'wait' }, { agent, onEnd });
    hasCome = await Promise.race([come, first.then(() => false)]);
  } while (!hasCome);

  replica.freeze();
  let isOver = false;
  const others = Array.from({ length: 4 }, async () => {
    while (!isOver && (await call(gateway.url, owner.key, {}, { agent })).status !== undefined);
  });
  await until('a connection to wait for the replica', async () =>
    /^blocked_clients:[1-9]/m.test(await raw.info('clients')),
  );
  letGo();
  const { id, isWhole } = await first;
  t.ok(isWhole);
  isOver = true;
  await Promise.all([gateway.ended, ...others]);
  replica.thaw();
  agent.destroy();

  const again = await startGatewayProcess(t, place);
  const charged = await until('the call to be in the ledger', async () =>
    (await ledgerOf(again, owner)).find((entry) => entry.id === id),
  );
  t.match(charged, { type: 'charge', credits: '-1.000000' });
});
