import type { Book } from '../book/book.ts';
import { BookReadOnly } from '../book/store.ts';
import type { OpenLedger } from '../ledger/open-ledger.ts';

const BOOK_READ_ONLY = 'The book (database) is read-only.';

/** Report of `/readyz`, which queries Redis and the book each time, within their clients' timeouts. */
interface Readiness {
  readonly redis: { readonly ok: boolean; readonly durable: boolean; readonly detail?: string };
  readonly book: { readonly ok: boolean; readonly detail?: string };
  readonly draining: boolean;
}

/** Tries whether Redis takes the writes of calls, and asks the book. Never rejects. */
export async function readinessOf(opened: {
  readonly book: Pick<Book, 'ping'>;
  readonly ledger: Pick<OpenLedger, 'check'>;
  readonly isDraining: () => boolean;
}): Promise<Readiness> {
  const [redis, book] = await Promise.all([
    opened.ledger.check().then(({ ok, faults, durabilityFaults }) => {
      const all = [...faults, ...durabilityFaults];
      const detail = all.length > 0 ? { detail: all.join('; ') } : {};
      return { ok, durable: ok && durabilityFaults.length === 0, ...detail };
    }),
    opened.book.ping().then(
      () => ({ ok: true }),
      (error: unknown) => ({
        ok: false,
        detail: error instanceof BookReadOnly ? BOOK_READ_ONLY : 'The book (database) does not answer.',
      }),
    ),
  ]);
  return { redis, book, draining: opened.isDraining() };
}
