import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Book } from './book/book.ts';
import { openBook } from './book/open-book.ts';
import type { Config } from './config.ts';
import { creditsString, type Micro, micro } from './domain/credits.ts';
import { parseRedisUrl, type RedisAddress } from './ledger/connect-redis.ts';
import { LiveBalances } from './ledger/live-balance.ts';
import { askRedis, socketPathFor } from './ledger/redis-socket.ts';
import { loadConfig } from './load-config.ts';

/**
 * `npm run reconcile` (contract section 7): proves for every account that its ledger, its stored balance and its live
 * balance in Redis agree, also beside a running gateway. A line for each difference, a summary, and exit code 1 where
 * there is one, or where it cannot be told.
 */
async function reconcile(config: Config): Promise<boolean> {
  const book = await openBook(config, { readOnly: true });
  try {
    const live = await openLive(config, book);
    try {
      return await report(book, live);
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
    throw new Error('Redis cannot be reached. Check REDIS_URL, and that the server is running.', { cause });
  });
}

/** Undefined: the private Redis of the data folder, if it has one, is not running. */
async function redisAddress(config: Config): Promise<RedisAddress | undefined> {
  if (config.redisUrl !== undefined) return parseRedisUrl(config.redisUrl);
  const folder = join(config.dataDir, 'redis');
  if (!existsSync(folder)) return undefined;
  const path = socketPathFor(folder);
  return (await askRedis(path, 'PING')) === '+PONG' ? { kind: 'socket', path } : undefined;
}

async function report(book: Book, live: LiveBalances | undefined): Promise<boolean> {
  let accounts = 0;
  let differences = 0;
  for await (const { accountId, email, balance, ledgerSum, lastBalanceAfter } of book.reconcile()) {
    accounts++;
    const compare = (what: string, found: Micro, rule: string, expected: Micro) => {
      if (found === expected) return;
      differences++;
      const by = creditsString(micro(found - expected));
      print(
        `account ${accountId} (${email}): ${what} is ${creditsString(found)} credits, but ${rule} is ${creditsString(expected)}: difference ${by}`,
      );
    };
    compare('the stored balance', balance, 'the sum of its ledger', ledgerSum);
    compare('the balance after its last ledger entry', lastBalanceAfter ?? micro(0), 'the sum', ledgerSum);
    const found = await live?.check(accountId);
    if (found)
      compare('the live balance', found.live, 'the book with what is under way to it', found.expected);
  }
  if (!live) print('No gateway runs on this data folder: the book was checked, and no live balance.');
  print(`accounts checked: ${accounts}, differences: ${differences}`);
  return differences === 0;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  process.exitCode = (await reconcile(loadConfig({ env: process.env }))) ? 0 : 1;
} catch (error) {
  process.stderr.write(`tollgate: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
