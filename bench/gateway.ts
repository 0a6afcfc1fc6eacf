import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { endLeftovers } from '../src/redis-server/leftover.ts';
import { socketPathFor } from '../src/redis-server/socket.ts';
import type { Cleanup } from './cleanup.ts';
import { type Server, startServer } from './program.ts';
import {
  BEHAVIOR_HEADER,
  CALLER_HEADERS,
  CROWD_MODEL,
  MODEL,
  TARGETS_MODEL,
  UPSTREAM_CREDENTIAL,
} from './wire.ts';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
export const ADMIN_TOKEN = 'operator-token-of-the-bench';

/** Data of the gateways. Without addresses: SQLite and a private Redis in the folder. */
export interface Place {
  readonly folder: string;
  readonly dataDir: string;
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
}

export function makePlace(
  cleanup: Cleanup,
  upstreamUrl: string,
  shared: Pick<Place, 'databaseUrl' | 'redisUrl'> = {},
  { memoryMb, crowdUrl }: { readonly memoryMb?: number; readonly crowdUrl?: string } = {},
): Place {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const dataDir = join(folder, 'data');
  cleanup.add(async () => {
    // A killed gateway leaves its Redis running.
    const redis = join(dataDir, 'redis');
    if (existsSync(redis)) await endLeftovers(socketPathFor(redis), pino({ level: 'silent' }));
    rmSync(folder, { recursive: true, force: true });
  });
  // Without the header, the gateway's streams would differ from those through the plain proxy.
  const passHeaders = [BEHAVIOR_HEADER];
  const upstream = { url: upstreamUrl, apiKey: UPSTREAM_CREDENTIAL, format: 'openai', passHeaders };
  const model = {
    upstreamModel: MODEL,
    category: 'text',
    maxOutputTokens: 1_000,
    price: { input: 100, output: 200, request: 0.001 },
  };
  const targets = [{ upstream: 'bench' }, { upstream: 'second' }];
  const crowd = crowdUrl !== undefined && { crowd: { ...upstream, url: crowdUrl } };
  const config = {
    upstreams: { bench: upstream, second: upstream, ...crowd },
    models: {
      [MODEL]: { ...model, upstream: 'bench' },
      [TARGETS_MODEL]: { ...model, targets },
      ...(crowd && { [CROWD_MODEL]: { ...model, upstream: 'crowd' } }),
    },
    limits: { memoryMb },
  };
  writeFileSync(join(folder, 'gateway.yaml'), JSON.stringify(config));
  return { folder, dataDir, ...shared };
}

/** A gateway as in production, in its own process. A place with servers can have any number of them. */
export async function startGateway(
  cleanup: Cleanup,
  place: Place,
  {
    index = 0,
    workers = 1,
    nodeArgs = [],
  }: { index?: number; workers?: number; nodeArgs?: readonly string[] } = {},
): Promise<Server> {
  if (!existsSync(MAIN)) throw new Error('there is no dist/main.js: run the load tests as npm run bench');
  return await startServer(cleanup, 'the gateway', [...nodeArgs, MAIN], {
    TOLLGATE_CONFIG: join(place.folder, 'gateway.yaml'),
    TOLLGATE_DATA: index === 0 ? place.dataDir : join(place.folder, `data-${index}`),
    ADMIN_TOKEN,
    MALLOC_ARENA_MAX: '2',
    PORT: '0',
    LOG_LEVEL: 'warn',
    TRUST_PROXY: '127.0.0.1/32',
    WORKERS: String(workers),
    ...(place.databaseUrl === undefined ? {} : { DATABASE_URL: place.databaseUrl }),
    ...(place.redisUrl === undefined ? {} : { REDIS_URL: place.redisUrl }),
  });
}

/** A connection to the Redis that the gateway of the place uses. */
export function connectRedis(cleanup: Cleanup, place: Place): Redis {
  const redis = new Redis(place.redisUrl ?? socketPathFor(join(place.dataDir, 'redis')));
  cleanup.add(() => redis.disconnect());
  return redis;
}

/** Calls the operator's or the owner's API. Throws unless the status is 2xx. */
export async function api<T>(
  gateway: Server,
  method: string,
  path: string,
  token: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${gateway.url}${path}`, {
    method,
    headers: { ...CALLER_HEADERS, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
