import type { LedgerEntry } from '../../src/book/book.ts';
import type { InProcessGateway } from './gateway-in-process.ts';

/** The account's newest charge, when it is in the book. */
export async function lastCharge(world: InProcessGateway, accountId: number): Promise<LedgerEntry> {
  for (;;) {
    await world.settled();
    const [entry] = await world.book.ledger({ accountId, limit: 1 });
    if (entry?.type === 'charge') return entry;
  }
}
