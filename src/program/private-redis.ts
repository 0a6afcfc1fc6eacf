import type { Config } from '../config/config.ts';
import type { Log } from '../log/log.ts';
import { type PrivateRedis, startPrivateRedis } from '../redis-server/server.ts';

const ALONE =
  'REDIS_URL is not set: this gateway keeps a Redis of its own, so it must be the only one that uses the database of ' +
  'DATABASE_URL. A second one would spend the same credits again. Gateways that share a database must share a Redis.';

/**
 * The private Redis of this gateway. Loudly where its database can be shared: two gateways with a Redis each know nothing
 * of each other's holds: of an account with 10 credits, 20 were spent.
 */
export function startPrivateRedisFor(
  { databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>,
  log: Log,
): Promise<PrivateRedis> {
  if (databaseUrl !== undefined) log.warn({}, ALONE);
  return startPrivateRedis(dataDir, log);
}
