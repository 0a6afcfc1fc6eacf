import type { Test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { type GatewayProcess, makePlace, startGateway } from './gateway-process.ts';
import { createDatabase } from './postgres.ts';
import { startRedis } from './redis-process.ts';

/** Three gateways on one Redis and one PostgreSQL. */
export async function startThree(t: Test) {
  const [redis, DATABASE_URL, provider] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startDemoProvider(),
  ]);
  t.teardown(() => provider.close());
  const env = { REDIS_URL: redis.url, DATABASE_URL };
  const start = () => startGateway(t, makePlace(t, provider.url, env));
  const gateways = await Promise.all([start(), start(), start()]);
  return { gateways, at: (turn: number) => gateways[turn % 3] as GatewayProcess };
}
