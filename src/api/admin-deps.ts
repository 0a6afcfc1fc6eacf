import type { Book } from '../book/book.ts';
import type { Config } from '../config/config.ts';
import type { Catalog } from '../domain/catalog.ts';
import type { Ledger } from '../ledger/ledger.ts';

/** What the operator's routes work with. */
export interface AdminDeps {
  readonly book: Book;
  readonly ledger: Ledger;
  readonly config: Config;
  readonly catalog: () => Catalog;
  /** Milliseconds since the epoch; default Date.now. */
  readonly now?: () => number;
}
