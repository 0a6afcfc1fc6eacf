/** Prefix of every Redis key of a book (see Book.id); the clients add it. */
export function redisKeyPrefix(bookId: string): string {
  return `${bookId}:`;
}

/**
 * Number of buckets. A bucket is a hash tag (specification section 5) shared by an account, its API keys, their holds
 * and their journal, so that Redis Cluster spreads accounts and every script stays on one node. The number is part of
 * the data: it can't change while Redis holds anything. A "Redis key" always names a value in Redis, never an API key.
 */
export const BUCKETS = 64;
export const ALL_BUCKETS: readonly number[] = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

export function bucketOf(accountId: number): number {
  return accountId % BUCKETS;
}

const TAGS = Array.from({ length: BUCKETS }, (_, bucket) => `tg:{${bucket}}:`);

/** Hash of an account; fields in lua/post.inc.lua. */
export function accountRedisKey(accountId: number): string {
  return `${TAGS[accountId % BUCKETS]}a:${accountId}`;
}

/** Hash of an API key; fields in lua/post.inc.lua. */
export function keyRedisKey(accountId: number, keyId: number): string {
  return `${TAGS[accountId % BUCKETS]}k:${keyId}`;
}

/** Hash of a person's keys in an account together; fields in lua/post.inc.lua. */
export function memberRedisKey(accountId: number, personId: number): string {
  return `${TAGS[accountId % BUCKETS]}m:${accountId}:${personId}`;
}

/** The member hash of a key in a list; empty if the key is the account's. */
export function memberRedisKeys(accountId: number, personId: number | null | undefined): string[] {
  return personId == null ? [] : [memberRedisKey(accountId, personId)];
}

/** Hash of a bucket's holds (lua/hold-record.inc.lua) and idempotency markers. */
export function holdsRedisKey(bucket: number): string {
  return `${TAGS[bucket]}holds`;
}

/** Stream of a bucket's ledger entries on their way to the book. */
export function journalRedisKey(bucket: number): string {
  return `${TAGS[bucket]}journal`;
}

/**
 * Redis keys of scripts that post an entry: account, API key, holds, journal, and the member if there is one; without an
 * API key, the account twice.
 */
export function postingRedisKeys(
  accountId: number,
  keyId: number | null,
  personId: number | null | undefined,
): readonly string[] {
  const account = accountRedisKey(accountId);
  const bucket = bucketOf(accountId);
  const key = keyId === null ? account : keyRedisKey(accountId, keyId);
  const member = memberRedisKeys(accountId, personId);
  return [account, key, holdsRedisKey(bucket), journalRedisKey(bucket), ...member];
}

/**
 * Hash of the checkpoint: ids of the newest drained `entry` and the newest `key`, and `until`, the time up to which the
 * bucket has every write (recovery/live-state-check.ts).
 */
export function knownRedisKey(bucket: number): string {
  return `${TAGS[bucket]}known`;
}

/** Empty string, written before each wait for replicas (replica-wait.ts). */
export function waitedRedisKey(bucket: number): string {
  return `${TAGS[bucket]}waited`;
}

/** Written and deleted at once by the check whether a node takes writes (redis-health.ts). */
export function triedRedisKey(bucket: number): string {
  return `${TAGS[bucket]}tried`;
}

/** String: random id of this Redis, of all gateways of the book (recovery/presence.ts). */
export function instanceRedisKey(): string {
  return 'tg:instance';
}

/** String `<account id>:<key id>` of the API key with this hash; removed by the third rotation after it. */
export function hashRedisKey(hash: string): string {
  return `tg:h:${hash}`;
}
