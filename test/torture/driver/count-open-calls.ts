import {
  accountRedisKey,
  bucketOf,
  holdsRedisKey,
  keyRedisKey,
} from '../../../src/ledger/redis/redis-keys.ts';
import type { History } from './history.ts';

/**
 * Script that atomically reads the holds of a bucket, and the counts of open calls of one account and one of its keys.
 * KEYS: account hash, key hash, holds hash.
 */
const LOOK = `#!lua flags=no-writes
local account, key = redis.call('HMGET', KEYS[1], 'ep', 'lim', 'open'), redis.call('HMGET', KEYS[2], 'ep', 'lim', 'open')
for i = 1, 3 do account[i], key[i] = account[i] or '', key[i] or '' end
return { account, key, redis.call('HGETALL', KEYS[3]) }`;

type Counted = readonly [epoch: string, limits: string, open: string];

/** Maximum wait for a read of Redis, which may be going down. */
const LOOK_MS = 500;

/**
 * Checks that for every key and its account, Redis counts as many open calls as there are holds. Skips those without a
 * limit of calls in flight, and those whose state is being rebuilt.
 */
export async function countOpenCalls(history: History): Promise<void> {
  const { model, raw, isRedisUp } = history;
  if (!isRedisUp) return;
  const work = model.keys.map(async ({ id, account }) => {
    const bucket = bucketOf(account.id);
    const look = raw
      .eval(LOOK, 3, accountRedisKey(account.id), keyRedisKey(account.id, id), holdsRedisKey(bucket))
      .catch(() => undefined);
    const found = (await look) as readonly [Counted, Counted, readonly string[]] | undefined;
    if (found) model.violations.push(...differences(account.id, id, found));
  });
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise((resolve) => {
    timer = setTimeout(resolve, LOOK_MS);
  });
  await Promise.race([Promise.all(work), patience]);
  clearTimeout(timer);
}

function differences(
  accountId: number,
  keyId: number,
  [account, key, found]: readonly [Counted, Counted, readonly string[]],
): string[] {
  if (account[0] === '' || key[0] !== account[0]) return [];
  const holds = found.filter((_, at) => at % 2 === 1).map((text) => text.split(' '));
  // Idempotency markers are stored among the holds, and begin with a minus.
  const open = holds.filter(([amount = '-']) => !amount.startsWith('-'));
  const ofAccount = open.filter(([, , , owner]) => owner === String(accountId)).length;
  const ofKey = open.filter(([, , owner]) => owner === String(keyId)).length;
  return [
    ...difference(`account ${accountId}`, account, ofAccount),
    ...difference(`key ${keyId}`, key, ofKey),
  ];
}

function difference(whose: string, [, limits, open]: Counted, holds: number): string[] {
  const isCounted = limits !== '' && limits.split(' ')[2] !== '-';
  return isCounted && Number(open) !== holds
    ? [`${whose}: ${open} calls counted as open in Redis, which has ${holds} holds of it`]
    : [];
}
