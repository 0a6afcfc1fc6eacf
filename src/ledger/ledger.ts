import type { Micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord, SpendingPeriod, Subject } from '../domain/key.ts';
import type { EntryDraft } from '../domain/ledger-entry.ts';

export type { Subject } from '../domain/key.ts';

/** A call that asks to be admitted: everything that the script needs, in one Redis round trip. */
export interface Admission {
  readonly requestId: string;
  readonly accountId: number;
  readonly keyId: number;
  /** Versions of the key and account records that the gateway authorised the call with. */
  readonly keyVersion: number;
  readonly accountVersion: number;
  /** The most that the call can cost. */
  readonly hold: Micro;
  /** What it is likely to cost: 0 to `hold`; a larger one counts as `hold`. */
  readonly estimate: Micro;
  readonly spendingLimit: Micro | null;
  readonly spendingPeriod: SpendingPeriod;
  /** Shown in the ledger if the gateway dies before it settles. */
  readonly model: string;
  readonly category: string;
  readonly endpoint: string;
}

/** The identity of a hold. */
export type HeldCall = Pick<Admission, 'requestId' | 'accountId' | 'keyId'>;

export type Admitted =
  /** The credits are held; `epoch` must come back with the settlement. */
  | { readonly verdict: 'held'; readonly epoch: number }
  /** The records that authorised the call are not the current ones: load them and authorise again. */
  | { readonly verdict: 'stale' }
  | ({ readonly verdict: 'over_limit'; readonly spent: Micro; readonly account: LiveAccount } & Reserved)
  | ({ readonly verdict: 'insufficient'; readonly balance: Micro } & Reserved);

/** What open calls have reserved of a balance or a spending limit, and how far holds may go beyond it. In micro-credits. */
interface Reserved {
  /** Σ of the holds of open calls. */
  readonly held: Micro;
  /** Σ of their estimates; at most `held`. */
  readonly estimated: Micro;
  /** The overdraft of the account. */
  readonly overdraft: Micro;
}

/** The part of an account's live state that was found not to be live; empty: the account itself. */
export interface Stale {
  /** A key of the account that must be live too. */
  readonly keyId?: number | null | undefined;
  /** An epoch that is over: the account is live in it, and must be rebuilt all the same. */
  readonly epoch?: number;
}

/** Thrown where Redis does not answer in time: the call must be refused with 503. */
export class LedgerUnavailable extends Error {}

/** Thrown where a grant would take the balance beyond MAX_BALANCE. Nothing has changed, and a repeat is refused too. */
export class BalanceBeyondBound extends Error {
  constructor() {
    super('the balance would be beyond what is exact');
  }
}

/** Balance, open calls and overdraft of an account as Redis has them now, in micro-credits. */
export interface LiveAccount extends Reserved {
  readonly balance: Micro;
}

/** The live state of accounts and keys in Redis, and its way into the book. */
export interface Ledger {
  /** Reserves the hold, or says why it cannot be. Rejects with LedgerUnavailable. */
  admit(admission: Admission): Promise<Admitted>;
  /**
   * Turns a hold into a charge. Never throws, and is retried until Redis has it. `onWire` is called once the command has been
   * written to Redis (or could not be), so that the end of the answer may follow.
   */
  settle(epoch: number, draft: EntryDraft, onWire: () => void): void;

  /** The key whose value has this SHA-256 (hex), with its account; undefined: there is none. */
  find(hash: string): Promise<Subject | undefined>;
  /** The current record of a key, with its account; undefined: there is none. */
  current(accountId: number, keyId: number): Promise<Subject | undefined>;

  /** Publishes a record that the book has just committed: every gateway authorises with it from now on. */
  publishKey(key: KeyRecord, hash?: string): Promise<void>;
  publishAccount(account: AccountRecord): Promise<void>;

  /** Applies a grant that the book holds as pending, exactly once. Resolves with the balance after it. Rejects with BalanceBeyondBound. */
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
   * Waits, `withinMs` at most (default: a quarter of a second), until the book has what the account, or all, were charged
   * until now. False: it may not have all of it, as where the book or Redis is away. Never rejects.
   */
  flush(accountId: number | 'all', withinMs?: number): Promise<boolean>;
  /** Credits that each of these keys has spent in its current period, in the order given. */
  spent(accountId: number, keys: readonly { id: number; period: SpendingPeriod }[]): Promise<Micro[]>;
  /** What calls of the key that are in flight have reserved: Σ of their holds and Σ of their estimates. */
  keyReserved(accountId: number, keyId: number): Promise<Pick<LiveAccount, 'held' | 'estimated'>>;
}
