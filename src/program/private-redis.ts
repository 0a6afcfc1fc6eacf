import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { type PrivateRedis, startPrivateRedis } from '../redis-server/server.ts';

const ALONE =
  'REDIS_URL is not set, so this gateway runs a private Redis and must be the only one that uses the database of ' +
  'DATABASE_URL. A second gateway would spend the same credits again: gateways that share a database must share a Redis.';

/**
 * Starts the private Redis of this gateway. Warns if the book is PostgreSQL, which several gateways can share: with a
 * Redis each, two gateways don't see each other's holds, so 10 credits could pay for 20.
 */
export function startPrivateRedisFor(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: Log,
): Promise<PrivateRedis> {
  if (databaseUrl !== undefined) log.warn({}, ALONE);
  return startPrivateRedis(dataDir, log);
}
