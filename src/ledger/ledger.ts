import type { Micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord, SpendingPeriod, Subject } from '../domain/key.ts';
import type { EntryDraft } from '../domain/ledger-entry.ts';

export type { Subject } from '../domain/key.ts';

/** What admission needs to know; one Redis round trip. */
export interface Admission {
  readonly requestId: string;
  readonly accountId: number;
  readonly keyId: number;
  /** Versions of the records that the gateway judged by. */
  readonly keyVersion: number;
  readonly accountVersion: number;
  readonly hold: Micro;
  readonly spendingLimit: Micro | null;
  readonly spendingPeriod: SpendingPeriod;
  /** Shown in the ledger if the gateway dies before it settles. */
  readonly model: string;
  readonly category: string;
  readonly endpoint: string;
}

/** What names a hold. */
export type HeldCall = Pick<Admission, 'requestId' | 'accountId' | 'keyId'>;

export type Admitted =
  /** Held; `epoch` must come back with the settlement. */
  | { readonly verdict: 'held'; readonly epoch: number }
  /** The records judged by are not the current ones: load them and judge again. */
  | { readonly verdict: 'stale' }
  | { readonly verdict: 'over_limit'; readonly spent: Micro; readonly held: Micro }
  | { readonly verdict: 'insufficient'; readonly balance: Micro; readonly held: Micro };

/** How long Redis remembers that an entry without a hold was applied; a repeat comes within seconds. */
export const MARK_MS = 24 * 3_600_000;

/** What was found not to be live. Nothing: the account. */
export interface Stale {
  /** This key of it, too. */
  readonly keyId?: number | null | undefined;
  /** It is live, in an epoch that is over. */
  readonly epoch?: number;
}

/** Thrown where Redis does not answer in time; the call must be refused with 503. */
export class LedgerUnavailable extends Error {}

/** Thrown where a grant would take the balance beyond MAX_BALANCE. Nothing has changed, and a repeat is refused alike. */
export class BalanceBeyondBound extends Error {
  constructor() {
    super('the balance would be beyond what is exact');
  }
}

export interface LiveAccount {
  readonly balance: Micro;
  readonly held: Micro;
}

/** The live state of accounts and keys in Redis, and its way into the book. */
export interface Ledger {
  /** Reserves the hold or says why not. Throws LedgerUnavailable. */
  admit(admission: Admission): Promise<Admitted>;
  /**
   * Turns a hold into a charge. Never throws and is retried until Redis has it; `onWire` is called once its command
   * has been written to Redis (or could not be), so that the end of the answer may follow.
   */
  settle(epoch: number, draft: EntryDraft, onWire: () => void): void;

  /** The key with that SHA-256 (hex), from Redis, else from the book; undefined: there is none. */
  find(hash: string): Promise<Subject | undefined>;
  /** The same by id: always the current record. */
  current(accountId: number, keyId: number): Promise<Subject | undefined>;

  /** Makes a record that the book has just committed the one that every gateway judges by. */
  publishKey(key: KeyRecord, hash?: string): Promise<void>;
  publishAccount(account: AccountRecord): Promise<void>;

  /** Applies a grant that the book holds as pending; exactly once. The balance after it. Throws BalanceBeyondBound. */
  grant(grant: {
    id: string;
    accountId: number;
    amount: Micro;
    type: 'top_up' | 'adjustment';
    note: string;
    createdAt: number;
  }): Promise<Micro>;

  account(accountId: number): Promise<LiveAccount>;
  /**
   * Waits, `withinMs` at most (default: a quarter of a second), until the book has what the account was charged until
   * now. False: it may not have all of it, as where the book or Redis is away. Never rejects.
   */
  flush(accountId: number, withinMs?: number): Promise<boolean>;
  /** Spent in the current period of each key named, in the order given. */
  spent(accountId: number, keys: readonly { id: number; period: SpendingPeriod }[]): Promise<Micro[]>;
  /** Held by calls of the key that are in flight. */
  keyHeld(accountId: number, keyId: number): Promise<Micro>;
}
