import type { LedgerEntry } from '../../src/book/book.ts';
import type { InProcessGateway } from './gateway-in-process.ts';

/** Resolves with the account's newest entry once that is in the book and a charge. */
export async function lastCharge(world: InProcessGateway, accountId: number): Promise<LedgerEntry> {
  for (;;) {
    await world.settled();
    const [entry] = await world.book.ledger({ accountId, limit: 1 });
    if (entry?.type === 'charge') return entry;
  }
}
