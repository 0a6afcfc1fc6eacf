import type { Book, LedgerEntry } from '../book/book.ts';
import { openBook } from '../book/open-book.ts';
import type { Config } from '../config/config.ts';
import { creditsString } from '../domain/credits.ts';
import type { AccountRecord } from '../domain/key.ts';
import { Failure } from './arguments.ts';
import { recomputedCharge } from './recompute-charge.ts';

/** Accounts and entries that are in memory at a time. */
const ACCOUNTS_PAGE = 100;
const ENTRIES_PAGE = 500;

/** The charges to be checked; what is absent bounds nothing. Days since 1970-01-01 UTC, both included. */
export interface ChargeSpan {
  readonly fromDay?: number | undefined;
  readonly toDay?: number | undefined;
  readonly accountId?: number | undefined;
}

/** A charge that is not what its row comes to. */
export interface ChargeDifference {
  readonly id: string;
  readonly accountId: number;
  /** Micro-credits that were charged. */
  readonly found: bigint;
  /** Undefined: the row lacks the price of something that was used. */
  readonly expected: bigint | undefined;
}

export interface ChargeListener {
  difference(found: ChargeDifference): void;
  /** After each page of an account's charges. */
  checked?(charges: number): void;
}

export interface ChargeSummary {
  /** Charges that were computed again. */
  readonly charges: number;
  readonly differences: number;
}

/**
 * Computes every charge of a span again from its row: Σ usage × price × multiplier + Σ fees (specification section 10). It reads the book
 * alone, in pages, also beside a running gateway. Throws Failure where there is no such account.
 */
export async function reconcileCharges(
  config: Config,
  span: ChargeSpan,
  listener: ChargeListener,
): Promise<ChargeSummary> {
  const book = await openBook(config, { readOnly: true });
  try {
    return await goThrough(book, span, listener);
  } finally {
    await book.close();
  }
}

async function goThrough(book: Book, span: ChargeSpan, listener: ChargeListener): Promise<ChargeSummary> {
  let charges = 0;
  let differences = 0;
  for await (const entries of chargesOf(book, span)) {
    for (const entry of entries) {
      charges++;
      const found = -BigInt(entry.credits);
      const expected = recomputedCharge(entry);
      if (found === expected) continue;
      differences++;
      listener.difference({ id: entry.id, accountId: entry.accountId, found, expected });
    }
    listener.checked?.(charges);
  }
  return { charges, differences };
}

async function* chargesOf(
  book: Book,
  { accountId, fromDay, toDay }: ChargeSpan,
): AsyncGenerator<readonly LedgerEntry[]> {
  for await (const { id } of accountsOf(book, accountId)) {
    const query = {
      accountId: id,
      type: 'charge' as const,
      limit: ENTRIES_PAGE,
      ...(fromDay === undefined ? {} : { fromDay }),
      ...(toDay === undefined ? {} : { toDay }),
    };
    for (let entries = await book.ledger(query); entries.length > 0; ) {
      yield entries;
      const before = entries.at(-1)?.seq ?? 0;
      entries = entries.length < ENTRIES_PAGE ? [] : await book.ledger({ ...query, before });
    }
  }
}

async function* accountsOf(
  book: Book,
  accountId: number | undefined,
): AsyncGenerator<Pick<AccountRecord, 'id'>> {
  if (accountId !== undefined) {
    const account = await book.account(accountId);
    if (!account) throw new Failure(`There is no account ${accountId}.`);
    yield account;
    return;
  }
  let accounts = await book.accounts(0, ACCOUNTS_PAGE);
  while (accounts.length > 0) {
    yield* accounts;
    accounts = await book.accounts(accounts.at(-1)?.id ?? 0, ACCOUNTS_PAGE);
  }
}

/** A difference in one line, in credits. */
export function chargeDifferenceText({ id, accountId, found, expected }: ChargeDifference): string {
  const charged = `charge ${id} of account ${accountId}: ${creditsString(found)} credits were charged, but`;
  if (expected === undefined) return `${charged} its row has no price for all that was used`;
  return `${charged} its usage at its prices is ${creditsString(expected)}: difference ${creditsString(found - expected)}`;
}
