import pino from 'pino';
import type { Book } from '../../src/book/book.ts';
import { type OpenLedger, openLedger } from '../../src/ledger/open-ledger.ts';
import type { World } from './world.ts';

/** The ledger of a gateway of the driver's own, past the wires. */
export function openLedgerOf({ redis }: World, book: Book): Promise<OpenLedger> {
  return openLedger({
    address: { kind: 'single', url: redis.url },
    book,
    log: pino({ level: 'silent' }),
    requestTimeoutMs: 1,
    onAlerts() {},
  });
}
