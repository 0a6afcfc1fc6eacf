import type { Test } from 'tap';
import { startDemoProvider } from '../../../src/demo/demo-provider.ts';
import { makeOwner } from '../clients/owner.ts';
import { startScriptedProvider, startWaitingProvider } from '../stand-ins/scripted-provider.ts';
import { type GatewayProcess, makePlace, startGatewayProcess } from './gateway-process.ts';
import { createDatabase } from './postgres-database.ts';
import { startPostgres } from './postgres-server.ts';
import { startRedis } from './redis-process.ts';
import type { Scope } from './scope.ts';

/**
 * Starts a Redis, a PostgreSQL and a provider for one test, which can stop and start them. `env` is the environment of
 * a gateway that uses them.
 */
export async function startOwnServers(t: Scope) {
  const [redis, postgres, provider] = await Promise.all([
    startRedis(t),
    startPostgres({ fsync: 'off' }),
    startScriptedProvider({ record: true }),
  ]);
  t.teardown(() => provider.close());
  t.teardown(() => postgres.stop());
  const env = { REDIS_URL: redis.url, DATABASE_URL: postgres.url('postgres') };
  return { redis, postgres, provider, env };
}

/** Starts `count` gateways on one Redis and one PostgreSQL (specification section 1, "Several gateways"). */
export async function startGatewayProcesses(t: Test, count: number) {
  const [redis, DATABASE_URL, provider] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startDemoProvider(),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: redis.url, DATABASE_URL };
  const start = () => startGatewayProcess(t, makePlace(t, provider.url, env));
  const gateways = await Promise.all(Array.from({ length: count }, start));
  /** Gateways in turn: 0 is the first, and `count` the first again. */
  return { redis, gateways, at: (turn: number) => gateways[turn % count] as GatewayProcess };
}

/** Starts a gateway on a Redis of the test, and a provider that holds its answers to "wait" until they are released. */
export async function startGatewayOnRedis(t: Test) {
  const redis = await startRedis(t);
  const { provider, letGo } = await startWaitingProvider(t);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, { REDIS_URL: redis.url }));
  const owner = await makeOwner(gateway, 100);
  return { redis, provider, gateway, owner, letGo };
}
