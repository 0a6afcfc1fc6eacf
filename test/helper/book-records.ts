import { randomBytes } from 'node:crypto';
import type { Book, NewAccount } from '../../src/book/book.ts';
import type { NewKey } from '../../src/book/book-keys.ts';
import { micro } from '../../src/domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../../src/domain/key.ts';
import { DEFAULT_SETTINGS } from '../../src/domain/key-fields.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';

/** Time of the records below: 2026-11-18, a Wednesday, 12:00 UTC. */
export const NOW = Date.UTC(2026, 10, 18, 12);
export const TODAY = Math.floor(NOW / 86_400_000);

let serial = 0;

export function newAccount(settings: Partial<NewAccount> = {}): NewAccount {
  return {
    email: `owner${++serial}@example.com`,
    alertThreshold: micro(100_000_000),
    webhookSecret: 'whsec_dGVzdA==',
    ...settings,
  };
}

export function newKey(settings: Partial<NewKey> = {}): NewKey {
  return {
    hash: randomBytes(32).toString('hex'),
    prefix: 'sk-tg-abcd',
    name: 'first',
    ...DEFAULT_SETTINGS,
    canManage: true,
    ...settings,
  };
}

/** Stores an account with one key and no grant. */
export async function stored(
  book: Book,
  settings: { account?: Partial<NewAccount>; key?: Partial<NewKey> } = {},
): Promise<{ account: AccountRecord; key: KeyRecord }> {
  return book.createAccount(newAccount(settings.account), newKey(settings.key), null, NOW);
}

/**
 * A charge of one micro-credit at seq 1 of epoch 0, with `given` in place of its fields. Its balance assumes that all
 * entries before it have the same credits.
 */
export function entry(accountId: number, given: Partial<JournalEntry> = {}): JournalEntry {
  const { credits = micro(-1), seq = 1, balanceAfter = micro(credits * seq) } = given;
  return {
    id: `entry-${++serial}`,
    type: 'charge',
    accountId,
    keyId: null,
    createdAt: NOW,
    model: 'gpt-4o-mini',
    category: 'text',
    endpoint: '/v1/chat/completions',
    status: 200,
    outcome: 'complete',
    usage: {},
    estimated: false,
    epoch: 0,
    day: TODAY,
    // Above every balance: no debit crosses it.
    threshold: micro(Number.MAX_SAFE_INTEGER),
    ...given,
    credits,
    seq,
    balanceAfter,
  };
}

/** True where the book's ledger has the entry. */
export async function hasEntry(book: Pick<Book, 'entriesAmong'>, id: string): Promise<boolean> {
  return (await book.entriesAmong([id])).has(id);
}

/** The first entries of an account, each made by `entry`, with the seq and balance that follow from those before it. */
export function entries(accountId: number, given: readonly Partial<JournalEntry>[]): JournalEntry[] {
  let balance = 0;
  return given.map((each, index) => {
    balance += each.credits ?? -1;
    return entry(accountId, { ...each, seq: index + 1, balanceAfter: micro(balance) });
  });
}
