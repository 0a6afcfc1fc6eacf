import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Book } from '../book/book.ts';
import { openBook } from '../book/open-book.ts';
import type { Config } from '../config/config.ts';
import { parseRedisUrl, type RedisAddress } from '../config/redis-url.ts';
import { creditsString, type Micro, micro } from '../domain/credits.ts';
import { LiveBalances } from '../ledger/live-balance.ts';
import { askRedis, socketPathFor } from '../redis-server/socket.ts';

/** Two sums of an account that should match but don't. */
export interface AccountDifference {
  readonly accountId: number;
  readonly email: string;
  readonly what: string;
  readonly found: Micro;
  readonly rule: string;
  readonly expected: Micro;
}

/** Callbacks during a check. */
export interface Listener<Difference> {
  difference(found: Difference): void;
  /** Called from time to time with the number of accounts or charges checked so far. */
  checked?(count: number): void;
}

interface Summary {
  readonly accounts: number;
  readonly differences: number;
  /** False if no gateway runs on the data folder: there was no live balance to check. */
  readonly live: boolean;
}

/**
 * Checks that each account's ledger, stored balance and live balance in Redis agree (specification section 7,
 * "Reconcile"). Safe next to a running gateway. Rejects if the check can't be completed.
 */
export async function reconcileAccounts(
  config: Config,
  listener: Listener<AccountDifference>,
): Promise<Summary> {
  const book = await openBook(config, { readOnly: true });
  try {
    const live = await openLive(config, book);
    try {
      return await goThrough(book, live, listener);
    } finally {
      live?.close();
    }
  } finally {
    await book.close();
  }
}

async function openLive(config: Config, book: Book): Promise<LiveBalances | undefined> {
  const address = await redisAddress(config);
  if (!address) return undefined;
  return await LiveBalances.open(address, book).catch((cause: unknown) => {
    throw new Error("Redis can't be reached. Check REDIS_URL and that the server is running.", { cause });
  });
}

/** Address of the gateway's Redis; undefined if it is the data folder's private Redis and not running. */
async function redisAddress(config: Config): Promise<RedisAddress | undefined> {
  if (config.redisUrl !== undefined) return parseRedisUrl(config.redisUrl);
  const folder = join(config.dataDir, 'redis');
  if (!existsSync(folder)) return undefined;
  const path = socketPathFor(folder);
  return (await askRedis(path, 'PING')) === '+PONG' ? { kind: 'socket', path } : undefined;
}

async function goThrough(
  book: Book,
  live: LiveBalances | undefined,
  listener: Listener<AccountDifference>,
): Promise<Summary> {
  let accounts = 0;
  let differences = 0;
  for await (const { accountId, email, balance, ledgerSum, lastBalanceAfter } of book.reconcile()) {
    const compare = (what: string, found: Micro, rule: string, expected: Micro) => {
      if (found === expected) return;
      differences++;
      listener.difference({ accountId, email, what, found, rule, expected });
    };
    compare('the stored balance', balance, 'the sum of its ledger', ledgerSum);
    compare('the balance after its last ledger entry', lastBalanceAfter ?? micro(0), 'the sum', ledgerSum);
    const found = await live?.check(accountId);
    if (found) compare('the live balance', found.live, 'the book plus pending entries', found.expected);
    accounts++;
    listener.checked?.(accounts);
  }
  return { accounts, differences, live: live !== undefined };
}

/** Formats a difference as one line, in credits. */
export function accountDifferenceText(difference: AccountDifference): string {
  const { accountId, email, what, found, rule, expected } = difference;
  const by = creditsString(micro(found - expected));
  return `account ${accountId} (${email}): ${what} is ${creditsString(found)} credits, but ${rule} is ${creditsString(expected)}: difference ${by}`;
}
