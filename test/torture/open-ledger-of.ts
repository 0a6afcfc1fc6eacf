import pino from 'pino';
import type { Book } from '../../src/book/book.ts';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { type OpenLedger, openLedger } from '../../src/ledger/open-ledger.ts';
import type { World } from './world.ts';

/** Opens a ledger in the driver's process, as of another gateway, whose connections no fault of a wire hits. */
export function openLedgerOf({ redis }: World, book: Book): Promise<OpenLedger> {
  return openLedger({
    address: parseRedisUrl(redis.url),
    book,
    log: pino({ level: 'silent' }),
    requestTimeoutMs: 1,
    onAlerts() {},
  });
}
