import pino from 'pino';
import type { Book } from '../../src/book/book.ts';
import { parseRedisUrl } from '../../src/config/redis-url.ts';
import { type OpenLedger, openLedger } from '../../src/ledger/open-ledger.ts';
import type { World } from './world.ts';

/** The ledger of a gateway of the driver's own, which no fault of a wire is meant for. */
export function openLedgerOf({ redis }: World, book: Book): Promise<OpenLedger> {
  return openLedger({
    address: parseRedisUrl(redis.url),
    book,
    log: pino({ level: 'silent' }),
    requestTimeoutMs: 1,
    onAlerts() {},
  });
}
