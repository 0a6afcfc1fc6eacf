/**
 * Time for a reply of Redis in tests of other things, as a busy machine needs it. That a gateway waits for 6 s and no
 * longer is proven where it is started as it is deployed, in test/process (redis-slow, redis-silent, lost-replies), and in
 * test/ledger (slow-redis, late-admissions).
 */
export const REDIS_TIMEOUT_MS = 20_000;
