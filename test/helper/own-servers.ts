import { startPostgres } from './postgres-server.ts';
import { startRedis } from './redis-process.ts';
import type { Scope } from './scope.ts';
import { startScriptedProvider } from './scripted-provider.ts';

/** A Redis, a PostgreSQL and a provider of the test's own, which it may stop and start; `env` leads a gateway to them. */
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
