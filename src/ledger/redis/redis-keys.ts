/** What every Redis name of a book begins with: see Book.id. The clients put it before each name. */
export function namePrefix(bookId: string): string {
  return `${bookId}:`;
}

/**
 * Redis names. All that one script touches shares a hash tag (specification section 5): an account, its keys, their holds and
 * their journal lie in one of BUCKETS buckets, so that Redis Cluster spreads accounts and every script stays on one
 * node. The number is part of the data: it cannot change while Redis holds anything.
 */
export const BUCKETS = 64;

export function bucketOf(accountId: number): number {
  return accountId % BUCKETS;
}

const TAGS = Array.from({ length: BUCKETS }, (_, bucket) => `tg:{${bucket}}:`);

export function accountName(accountId: number): string {
  return `${TAGS[accountId % BUCKETS]}a:${accountId}`;
}

export function keyName(accountId: number, keyId: number): string {
  return `${TAGS[accountId % BUCKETS]}k:${keyId}`;
}

export function holdsName(bucket: number): string {
  return `${TAGS[bucket]}holds`;
}

export function journalName(bucket: number): string {
  return `${TAGS[bucket]}journal`;
}

/** `<account id>:<key id>` of the key value with that SHA-256; written once, never changed. */
export function hashName(hash: string): string {
  return `tg:h:${hash}`;
}
