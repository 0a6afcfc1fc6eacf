import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { t as suite, type Test } from 'tap';
import type { Book } from '../../../src/book/book.ts';
import { openBook } from '../../../src/book/open-book.ts';
import type { Engine } from '../../../src/book/schema.ts';
import type { RedisAddress } from '../../../src/config/redis-url.ts';
import { micro } from '../../../src/domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../../../src/domain/key.ts';
import type { EntryDraft } from '../../../src/domain/ledger-entry.ts';
import type { LimitPeriod } from '../../../src/domain/limit-periods.ts';
import { type PeriodStarts, periodStarts } from '../../../src/domain/period.ts';
import {
  ownedLimits,
  type SpendingOwner,
  spentIn,
  type Windows,
} from '../../../src/domain/spending-limits.ts';
import type { Admission, Ledger } from '../../../src/ledger/ledger.ts';
import { type LedgerBounds, type OpenLedger, openLedger } from '../../../src/ledger/open-ledger.ts';
import { accountRedisKey, redisKeyPrefix } from '../../../src/ledger/redis/redis-keys.ts';
import { type PrivateRedis, startPrivateRedis } from '../../../src/redis-server/server.ts';
import { takeBook } from './books.ts';
import { type AccountOptions, accountOn } from './ledger-account.ts';
import { REDIS_TIMEOUT_MS } from './redis-process.ts';
import type { Scope } from './scope.ts';

export const log = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

export interface TestLedger {
  readonly book: Book;
  readonly redis: PrivateRedis;
  /** The test's own connection to Redis. */
  readonly raw: Redis;
  readonly open: OpenLedger;
  /** Number of times that the ledger reported queued alerts. */
  readonly alerts: () => number;
  account(options?: AccountOptions): Promise<{ account: AccountRecord; key: KeyRecord; hash: string }>;
  /** Opens a second ledger on this Redis and book, like another gateway. */
  second(): Promise<OpenLedger>;
}

/**
 * Opens a ledger on a Redis and a book (default: SQLite) without a gateway. Both are empty, and shared with later tests of the
 * process; with `ownRedis`, the test may stop or reconfigure its Redis.
 */
export async function startLedger(
  t: Test,
  {
    redisTimeoutMs = REDIS_TIMEOUT_MS,
    ownRedis = false,
    engine = 'sqlite',
  }: { redisTimeoutMs?: number; ownRedis?: boolean; engine?: Engine } = {},
): Promise<TestLedger> {
  const { book } = await takeBook(t, engine);
  const redis = ownRedis ? await startPrivateRedisFor(t) : await takeRedis(book.id);
  let alerts = 0;
  const connect = () =>
    openLedger({
      address: { kind: 'socket', path: redis.socketPath },
      book,
      log,
      requestTimeoutMs: 60_000,
      redisTimeoutMs,
      onAlerts: () => alerts++,
    });
  const open = await connect();
  const others: OpenLedger[] = [];
  const raw = new Redis(redis.socketPath, { keyPrefix: redisKeyPrefix(book.id) });
  t.teardown(async () => {
    for (const other of others) await other.close(1_000);
    // Later tests use the same book, so this ledger must not write to it any more.
    await open.close(ownRedis ? 5_000 : 60_000);
    raw.disconnect();
  });
  return {
    book,
    redis,
    raw,
    open,
    alerts: () => alerts,
    async second() {
      const other = await connect();
      others.push(other);
      return other;
    },
    account: (options) => accountOn(book, open.ledger, options),
  };
}

let sharedRedis: Promise<PrivateRedis> | undefined;

/** The process' Redis, without Redis keys of this book. */
async function takeRedis(bookId: string): Promise<PrivateRedis> {
  sharedRedis ??= startPrivateRedisFor(suite);
  const redis = await sharedRedis;
  const raw = new Redis(redis.socketPath);
  const old = await raw.keys(`${redisKeyPrefix(bookId)}*`);
  if (old.length > 0) await raw.unlink(old);
  raw.disconnect();
  return redis;
}

/** Starts a Redis on a unix socket that ends with the test. */
export async function startPrivateRedisFor(t: Scope): Promise<PrivateRedis> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-redis-'));
  const redis = await startPrivateRedis(dataDir, log);
  t.teardown(async () => {
    await redis.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return redis;
}

/** Opens a ledger on a running Redis, with a new SQLite book; closed at the test's end. */
export async function openLedgerOn(
  t: Test,
  address: RedisAddress,
  {
    databaseUrl,
    ...options
  }: {
    databaseUrl?: string | undefined;
    waitReplicas?: number;
    bounds?: LedgerBounds;
    redisTimeoutMs?: number;
  } = {},
): Promise<{ book: Book; open: OpenLedger }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'));
  const book = await openBook({ databaseUrl, dataDir });
  const open = await openLedger({ address, book, log, requestTimeoutMs: 60_000, onAlerts() {}, ...options });
  t.teardown(async () => {
    await open.close(1_000);
    await book.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return { book, open };
}

let requests = 0;

export function admissionOf(key: KeyRecord, credits: number, more: Partial<Admission> = {}): Admission {
  const hold = micro(Math.round(credits * 1e6));
  return {
    requestId: `req_${process.pid}_${requests++}`,
    accountId: key.accountId,
    keyId: key.id,
    personId: key.personId,
    keyVersion: key.version,
    accountVersion: 1,
    hold,
    estimate: hold,
    spendingLimits: ownedLimits(key, []),
    model: 'flat',
    category: 'text',
    endpoint: '/v1/chat/completions',
    ...more,
  };
}

export function chargeOf(admission: Admission, credits: number): EntryDraft {
  return {
    id: admission.requestId,
    type: 'charge',
    accountId: admission.accountId,
    keyId: admission.keyId,
    ...(admission.personId !== null && { personId: admission.personId }),
    createdAt: Date.now(),
    model: admission.model,
    category: 'text',
    endpoint: admission.endpoint,
    status: 200,
    outcome: 'complete',
    usage: { input: 1, requests: 1 },
    estimated: false,
    credits: micro(-Math.round(credits * 1e6)),
  };
}

/** Micro-credits that a key, its member or its account has spent in the current window of a period. */
export async function spentBy(
  ledger: Ledger,
  { accountId, id, personId }: Pick<KeyRecord, 'accountId' | 'id' | 'personId'>,
  period: LimitPeriod,
  of: SpendingOwner = 'key',
): Promise<number> {
  const owners = { key: id, member: { personId: personId ?? 0 }, account: 'account' } as const;
  const [windows] = await ledger.windows(accountId, [owners[of]]);
  const now = ledger.now(accountId);
  return spentIn(windows as Windows, period, periodStarts(now), now);
}

/** Admits and settles one call. Resolves with the result of the admission. */
export async function spend(open: OpenLedger, admission: Admission, credits: number): Promise<string> {
  const admitted = await open.ledger.admit(admission);
  if (admitted.verdict === 'held') {
    await new Promise<void>((resolve) => open.ledger.settle(chargeOf(admission, credits), resolve));
  }
  return admitted.verdict;
}

/** All entries of an account in a book's ledger, oldest first. */
export async function entriesOf(book: Book, accountId: number) {
  return (await book.ledger({ accountId, limit: 1_000 })).reverse();
}

/** Moves the day, week and month of an account in Redis, where its windows are one text: seq, d, ds, w, ws, m, … */
export async function setAccountPeriods(raw: Redis, accountId: number, starts: PeriodStarts): Promise<void> {
  const name = accountRedisKey(accountId);
  const values = String(await raw.hget(name, 'win')).split(' ');
  const { day, week, month } = starts;
  await raw.hset(
    name,
    'win',
    [values[0], day, values[2], week, values[4], month, ...values.slice(6)].join(' '),
  );
}
