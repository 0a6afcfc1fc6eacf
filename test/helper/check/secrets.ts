import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A place to search for secrets: its name and its whole text. */
export interface Place {
  readonly where: string;
  readonly text: string;
}

/** Encodings in which to search for a secret, by name. */
function formsOf(secret: string): Record<string, string> {
  const bytes = Buffer.from(secret);
  const digest = createHash('sha256').update(secret).digest();
  return {
    plain: secret,
    'in hex': bytes.toString('hex'),
    // Without the last group, which depends on the bytes that follow.
    'in base64': bytes.toString('base64').slice(0, Math.floor(bytes.length / 3) * 4),
    'URL-encoded': encodeURIComponent(secret),
    'SHA-256': digest.toString('hex'),
    'SHA-256 in base64': digest.toString('base64').replace(/=+$/, ''),
    'SHA-256 in base64url': digest.toString('base64url'),
  };
}

/**
 * Places that contain a secret in any encoding, as `encoding: place`, each once. Skips places for which `belongs`
 * returns true.
 */
export function findSecret(
  secret: string,
  places: readonly Place[],
  belongs: readonly RegExp[] = [],
): string[] {
  const found = new Set<string>();
  for (const [form, spelling] of Object.entries(formsOf(secret))) {
    for (const { where, text } of places) {
      if (text.includes(spelling)) found.add(`${form}: ${where}`);
    }
  }
  return [...found].filter((line) => !belongs.some((pattern) => pattern.test(line)));
}

/** Places of the book: every value of every row, named `book table.column`. `run` executes SQL. */
export async function bookPlaces(
  tables: readonly string[],
  run: (sql: string) => Promise<unknown[]>,
): Promise<Place[]> {
  const places: Place[] = [];
  for (const table of tables) {
    for (const row of (await run(`select * from ${table}`)) as Record<string, unknown>[]) {
      for (const [column, value] of Object.entries(row)) {
        places.push({ where: `book ${table}.${column}`, text: asText(value) });
      }
    }
  }
  return places;
}

/** Places of Redis: all Redis keys and values, by the kind of key. */
export async function redisPlaces(redis: Redis): Promise<Place[]> {
  const places: Place[] = [];
  for (const name of await redis.keys('*')) {
    const kind = name.replace(/^[^:]*:/, '').replace(/[0-9a-f]{64}|\{\d+\}|\d+/g, '#');
    places.push({ where: `redis name ${kind}`, text: name });
    places.push({ where: `redis value ${kind}`, text: JSON.stringify(await contentOf(redis, name)) });
  }
  return places;
}

async function contentOf(redis: Redis, name: string): Promise<unknown> {
  switch (await redis.type(name)) {
    case 'string':
      return await redis.get(name);
    case 'hash':
      return await redis.hgetall(name);
    case 'zset':
      return await redis.zrange(name, '0', '-1');
    case 'set':
      return await redis.smembers(name);
    case 'stream':
      return await redis.xrange(name, '-', '+');
    default:
      return await redis.lrange(name, 0, -1);
  }
}

function asText(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1');
  return typeof value === 'string'
    ? value
    : JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}
