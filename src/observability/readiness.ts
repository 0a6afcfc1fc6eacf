import type { Book } from '../book/book.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';

/** Report of `/readyz`, which queries Redis and the book each time, within their clients' timeouts. */
interface Readiness {
  readonly redis: { readonly ok: boolean; readonly durable: boolean; readonly detail?: string };
  readonly book: { readonly ok: boolean; readonly detail?: string };
  readonly draining: boolean;
}

/** Queries Redis and the book. Never rejects: a part that doesn't answer is down. */
export async function readinessOf(opened: {
  readonly book: Pick<Book, 'ping'>;
  readonly ledger: Pick<OpenLedger, 'check'>;
  readonly isDraining: () => boolean;
}): Promise<Readiness> {
  const [redis, book] = await Promise.all([
    opened.ledger.check().then(
      (faults) => ({
        ok: true,
        durable: faults.length === 0,
        ...(faults.length > 0 ? { detail: faults.join('; ') } : {}),
      }),
      () => ({ ok: false, durable: false, detail: 'Redis does not answer.' }),
    ),
    opened.book.ping().then(
      () => ({ ok: true }),
      () => ({ ok: false, detail: 'The book (database) does not answer.' }),
    ),
  ]);
  return { redis, book, draining: opened.isDraining() };
}
