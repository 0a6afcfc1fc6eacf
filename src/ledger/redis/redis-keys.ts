/** Prefix of every Redis key of a book (see Book.id); the Redis clients put it there. */
export function redisKeyPrefix(bookId: string): string {
  return `${bookId}:`;
}

/**
 * Number of buckets that accounts are spread over. A Redis key is the name of a value in Redis, and has nothing to do with
 * the API keys of accounts. Redis keys that one script touches share a hash tag (specification section 5): an account, its
 * API keys, their holds and their journal lie in one bucket, so that Redis Cluster spreads accounts and every script stays
 * on one node. The number is part of the data: it cannot change while Redis holds anything.
 */
export const BUCKETS = 64;
export const ALL_BUCKETS: readonly number[] = Array.from({ length: BUCKETS }, (_, bucket) => bucket);

/** The bucket of an account, from 0 on. */
export function bucketOf(accountId: number): number {
  return accountId % BUCKETS;
}

const TAGS = Array.from({ length: BUCKETS }, (_, bucket) => `tg:{${bucket}}:`);

/** Redis key of the hash of an account (lua/post.inc.lua lists its fields). */
export function accountRedisKey(accountId: number): string {
  return `${TAGS[accountId % BUCKETS]}a:${accountId}`;
}

/** Redis key of the hash of an API key (lua/post.inc.lua lists its fields). */
export function keyRedisKey(accountId: number, keyId: number): string {
  return `${TAGS[accountId % BUCKETS]}k:${keyId}`;
}

/** Redis key of the hash of the holds of a bucket (lua/hold-record.inc.lua), and of its idempotency markers. */
export function holdsRedisKey(bucket: number): string {
  return `${TAGS[bucket]}holds`;
}

/** Redis key of the stream of entries of a bucket that are on their way to the book. */
export function journalRedisKey(bucket: number): string {
  return `${TAGS[bucket]}journal`;
}

/** Redis keys of the scripts that end a call or post an entry: account, API key, holds, journal; without a key the account twice. */
export function postingRedisKeys(accountId: number, keyId: number | null): [string, string, string, string] {
  const account = accountRedisKey(accountId);
  const bucket = bucketOf(accountId);
  const key = keyId === null ? account : keyRedisKey(accountId, keyId);
  return [account, key, holdsRedisKey(bucket), journalRedisKey(bucket)];
}

/**
 * Redis key of the checkpoint, a hash: ids of the newest drained `entry` and the newest `key`; and `until` when the
 * bucket is known to have had every write (recovery/live-state-check.ts).
 */
export function knownRedisKey(bucket: number): string {
  return `${TAGS[bucket]}known`;
}

/** Redis key of an empty text, written before each wait for replicas (replica-wait.ts). */
export function waitedRedisKey(bucket: number): string {
  return `${TAGS[bucket]}waited`;
}

/** Redis key of the text `<account id>:<key id>` for the API key whose value has that SHA-256; written once, never changed. */
export function hashRedisKey(hash: string): string {
  return `tg:h:${hash}`;
}
