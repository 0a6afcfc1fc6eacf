import type { Redis } from 'ioredis';
import type { KeyRecord } from '../../src/domain/key.ts';
import type { LimitPeriod } from '../../src/domain/limit-periods.ts';
import type { OwnedLimit } from '../../src/domain/spending-limits.ts';
import { accountRedisKey, keyRedisKey, memberRedisKey } from '../../src/ledger/redis/redis-keys.ts';

/** What was spent in the last window of each period: the field of a key or member, and the word of an account (lua/post.inc.lua). */
const SPENT = {
  '5h': { field: 'hs', word: 8 },
  daily: { field: 'ds', word: 2 },
  weekly: { field: 'ws', word: 4 },
  monthly: { field: 'ms', word: 6 },
  total: { field: 'ts', word: 9 },
} as const satisfies Record<LimitPeriod, { readonly field: string; readonly word: number }>;

/** Reads one moment; nothing while a rebuild keeps the account closed. */
const MOMENT = `local ep = redis.call('HGET', KEYS[1], 'ep')
if not ep or ep ~= redis.call('HGET', KEYS[2], 'ep') then return {} end
return redis.call('HMGET', KEYS[3], ARGV[1], 'held')`;

/**
 * Reads, again and again until it is stopped, what the key, its member and its account have spent and hold, which must never be
 * more than a limit together. Waits while Redis is away.
 */
export function spendingSampler(
  raw: Redis,
  { accountId, id, personId }: KeyRecord,
  limits: readonly OwnedLimit[],
) {
  const keys = [keyRedisKey(accountId, id), accountRedisKey(accountId)];
  const owners = {
    key: keys[0] as string,
    member: memberRedisKey(accountId, personId ?? 0),
    account: keys[1] as string,
  };
  const found = { samples: 0, faults: [] as string[] };
  let isStopped = false;
  const sample = async (limit: OwnedLimit) => {
    const { field, word } = SPENT[limit.period];
    const of = limit.of === 'account' ? 'win' : field;
    const [text, held] = (await raw.eval(MOMENT, 3, ...keys, owners[limit.of], of)) as string[];
    if (text === undefined) return;
    const spent = limit.of === 'account' ? text.split(' ')[word] : text;
    found.samples++;
    if (Number(spent) + Number(held) > limit.credits)
      found.faults.push(`${limit.of} ${limit.period}: ${spent} spent and ${held} held of ${limit.credits}`);
  };
  const run = async () => {
    while (!isStopped) for (const limit of limits) await sample(limit);
  };
  const running = run();
  return {
    async stop() {
      isStopped = true;
      await running;
      return found;
    },
  };
}
