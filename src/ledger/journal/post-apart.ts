import { type AstrayAccount, type Book, BookUnavailable, type PostResult } from '../../book/book.ts';
import type { JournalEntry } from '../../domain/ledger-entry.ts';

/** Pause before entries of a refused account are tried again: each try is a transaction that fails. */
const AGAIN_MS = 2_000;

export interface PostedApart {
  /** In the order of the entries offered. An error: the book refused the entry, or an earlier one of its account. */
  readonly results: readonly (PostResult | Error)[];
  readonly astray: readonly AstrayAccount[];
  readonly alerts: number;
}

/**
 * Posts entries of many accounts in one transaction. Where the book refuses that, the entries of each account are posted
 * apart, one by one up to the first that is refused. That one keeps back the later entries of its own account, whose
 * balances follow from it, and of no other account.
 */
export class PostApart {
  readonly #book: Pick<Book, 'post'>;
  /** Reason of the refusal and time of the next try, by account. */
  readonly #refused = new Map<number, { readonly error: Error; readonly until: number }>();

  constructor(book: Pick<Book, 'post'>) {
    this.#book = book;
  }

  /** Posts entries, in journal order. Rejects where the book is away, or refuses the entries of every account. */
  async post(entries: readonly JournalEntry[]): Promise<PostedApart> {
    const together = entries.filter(({ accountId }) => !this.#refused.has(accountId));
    const results = new Map<JournalEntry, PostResult | Error>();
    const astray: AstrayAccount[] = [];
    let alerts = 0;
    const post = async (some: readonly JournalEntry[]) => {
      const posting = await this.#book.post(some);
      for (const [index, entry] of some.entries()) results.set(entry, posting.results[index] as PostResult);
      astray.push(...posting.astray);
      alerts += posting.alerts;
    };
    let failure: Error | undefined;
    await post(together).catch((error: unknown) => {
      failure = refusal(error);
    });
    const apart = failure ? entries : entries.filter(({ accountId }) => this.#refused.has(accountId));
    const accounts = Map.groupBy(apart, ({ accountId }) => accountId);
    for (const [accountId, own] of accounts) await this.#postOwn(accountId, own, post, results);
    const isNoneTaken = [...results.values()].every((result) => result instanceof Error);
    if (failure && accounts.size > 1 && isNoneTaken) throw failure;
    return { results: entries.map((entry) => results.get(entry) as PostResult | Error), astray, alerts };
  }

  async #postOwn(
    accountId: number,
    entries: readonly JournalEntry[],
    post: (some: readonly JournalEntry[]) => Promise<void>,
    results: Map<JournalEntry, PostResult | Error>,
  ): Promise<void> {
    let known = this.#refused.get(accountId);
    if (known && known.until <= Date.now()) known = undefined;
    for (const entry of entries) {
      if (!known) {
        await post([entry]).catch((error: unknown) => {
          known = { error: refusal(error), until: Date.now() + AGAIN_MS };
        });
      }
      if (known) results.set(entry, known.error);
    }
    if (known) this.#refused.set(accountId, known);
    else this.#refused.delete(accountId);
  }
}

/** The error with which the book refused entries. Throws BookUnavailable on: then it refused nothing. */
function refusal(error: unknown): Error {
  if (error instanceof BookUnavailable) throw error;
  return error instanceof Error ? error : new Error(String(error));
}
