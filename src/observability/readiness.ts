import type { Book } from '../book/book.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';

/** The report of `/readyz`, for which it asks Redis and the book each time, within the timeouts of their clients. */
interface Readiness {
  readonly redis: { readonly ok: boolean; readonly durable: boolean; readonly detail?: string };
  readonly book: { readonly ok: boolean; readonly detail?: string };
  readonly draining: boolean;
}

/** Asks Redis and the book. Never rejects: a part that does not answer is one that is down. */
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
