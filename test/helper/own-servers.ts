import { startPostgres } from './postgres-server.ts';
import { startRedis } from './redis-process.ts';
import type { Scope } from './scope.ts';
import { startScriptedProvider } from './scripted-provider.ts';

/**
 * Starts a Redis, a PostgreSQL and a provider for one test, which may stop and start them. `env` is the environment of
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
