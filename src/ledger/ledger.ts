import type { LimitStates } from '../domain/call-limits.ts';
import type { Micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord, SpendingPeriod, Subject } from '../domain/key.ts';
import type { EntryDraft } from '../domain/ledger-entry.ts';
import type { KeyAndAccountLimits } from '../domain/rules.ts';

export type { Subject } from '../domain/key.ts';

/** A call that asks to be admitted: everything that the script needs, in one Redis round trip. */
export interface Admission {
  readonly requestId: string;
  readonly accountId: number;
  readonly keyId: number;
  /** Versions of the key and account records that the gateway authorized the call with. */
  readonly keyVersion: number;
  readonly accountVersion: number;
  /** Micro-credits that the call can cost at most. */
  readonly hold: Micro;
  /** Micro-credits that the call is likely to cost: 0 to `hold`; a larger number counts as `hold`. */
  readonly estimate: Micro;
  readonly spendingLimit: Micro | null;
  readonly spendingPeriod: SpendingPeriod;
  /** Limits of calls; undefined if neither key nor account has one. */
  readonly limits?: AdmissionLimits | undefined;
  /**
   * Time from which the presented value of the key is refused (milliseconds since the epoch, by Redis' clock);
   * undefined: never.
   */
  readonly valueEndsAt?: number | undefined;
  /** Model, category and endpoint are shown in the ledger if the gateway dies before it settles. */
  readonly model: string;
  readonly category: string;
  readonly endpoint: string;
  /**
   * True for a read of a job: it costs nothing, so that only limits of calls are checked, and has no ledger entry. It ends by
   * `endRead`; `hold` and `estimate` are 0.
   */
  readonly isRead?: boolean | undefined;
}

/** Limits that a call is subject to, and its share of them. */
export interface AdmissionLimits extends KeyAndAccountLimits {
  /**
   * Whole tokens that the call is likely to use, 0 or more; a limit takes as many as its capacity at most. Undefined: the call
   * takes neither tokens nor a request of limits a minute.
   */
  readonly tokens: number | undefined;
}

/**
 * Whole tokens by which the use of a call differed from what its admission took: of the limits of its key, and of its
 * account.
 */
export interface TokenCorrection {
  readonly key: number;
  readonly account: number;
}

/** The identity of a hold. */
export type HoldId = Pick<Admission, 'requestId' | 'accountId' | 'keyId'>;

export type Admitted =
  /** The credits are held. */
  | { readonly verdict: 'held'; readonly limits?: LimitStates }
  /** The records that authorized the call are not the current ones: load them and authorize again. */
  | { readonly verdict: 'stale' }
  /** The presented value is the previous one of a rotated key, and its grace has ended. */
  | { readonly verdict: 'ended' }
  /**
   * A limit of calls has no room; nothing was taken. `onlyLimits`: the call lacks nothing else. `limits`: as they stand,
   * without this call.
   */
  | { readonly verdict: 'limited'; readonly limits: LimitStates; readonly onlyLimits: boolean }
  | ({
      readonly verdict: 'over_limit';
      readonly spent: Micro;
      readonly account: LiveAccount;
      readonly limits?: LimitStates;
    } & Reserved)
  | ({ readonly verdict: 'insufficient'; readonly balance: Micro; readonly limits?: LimitStates } & Reserved);

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

/**
 * Why the ledger could not decide: Redis executed the admission too late, again and again; it did not answer in time, or its
 * connection broke; it is not connected; too many calls wait for it; anything else, such as a journal that is full.
 */
export const UNDECIDED_REASONS = ['late', 'no_answer', 'not_connected', 'too_many', 'other'] as const;
export type UndecidedReason = (typeof UNDECIDED_REASONS)[number];

/** Thrown if Redis does not answer in time: the call must be refused with 503. */
export class LedgerUnavailable extends Error {
  readonly reason: UndecidedReason;

  constructor(
    message: string,
    { reason = 'other', ...options }: ErrorOptions & { reason?: UndecidedReason } = {},
  ) {
    super(message, options);
    this.reason = reason;
  }
}

/** Thrown if a grant would take the balance beyond MAX_BALANCE. Nothing has changed, and a repeat is refused too. */
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
   * `correction`: of the tokens that the admission took, if it was subject to a limit of tokens.
   */
  settle(draft: EntryDraft, onWire: () => void, correction?: TokenCorrection): void;
  /**
   * Gives back everything that the admission of a call took, if the call is not sent upstream. It leaves no ledger
   * entry. Never throws.
   */
  cancel(call: HoldId): void;
  /**
   * Ends an admitted read of a job: its place among the calls in flight is free again; the request stays counted. Never
   * throws.
   */
  endRead(call: HoldId): void;

  /** The key whose value has this SHA-256 (hex), with its account; undefined: there is none. */
  find(hash: string): Promise<Subject | undefined>;
  /** The current record of a key, with its account; undefined: there is none. */
  current(accountId: number, keyId: number): Promise<Subject | undefined>;

  /** Publishes a record that the book has just committed: every gateway authorizes with it from now on. */
  publishKey(key: KeyRecord, hash?: string): Promise<void>;
  /** Publishes the record of a key that has a new value. */
  publishRotatedKey(key: KeyRecord): Promise<void>;
  publishAccount(account: AccountRecord): Promise<void>;

  /**
   * Applies a grant that the book holds as pending, exactly once. Resolves with the balance after it. Rejects with
   * BalanceBeyondBound or LedgerUnavailable.
   */
  grant(grant: {
    id: string;
    accountId: number;
    amount: Micro;
    type: 'top_up' | 'adjustment';
    note: string;
    createdAt: number;
  }): Promise<Micro>;

  /**
   * Time of Redis' clock for the account as this process knows it, in milliseconds since the epoch: never ahead of
   * Redis, and behind it by some milliseconds at most.
   */
  now(accountId: number): number;
  /** Time of Redis' clock, read from Redis now, in milliseconds since the epoch. Rejects with LedgerUnavailable. */
  time(accountId: number): Promise<number>;

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
  /** State of the limits of calls of a key and of its account, by Redis' clock. */
  limitStates(accountId: number, keyId: number): Promise<LimitStates>;
}
