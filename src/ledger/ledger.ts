import type { LimitOwner, LimitStates } from '../domain/call-limits.ts';
import type { Micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord, Subject } from '../domain/key.ts';
import type { EntryDraft } from '../domain/ledger-entry.ts';
import type { KeyAndAccountLimits } from '../domain/rules.ts';
import type { OwnedLimit, Windows } from '../domain/spending-limits.ts';

export type { Subject } from '../domain/key.ts';

/** Everything the admission script needs, in one round trip. */
export interface Admission {
  readonly requestId: string;
  readonly accountId: number;
  readonly keyId: number;
  /** The person whose key it is; null: it is the account's. */
  readonly personId: number | null;
  /** Versions of the key and account records that the gateway authorized the call with. */
  readonly keyVersion: number;
  readonly accountVersion: number;
  /** Maximum cost of the call, in micro-credits. */
  readonly hold: Micro;
  /** Estimated cost in micro-credits: 0 to `hold`; a larger number counts as `hold`. */
  readonly estimate: Micro;
  /** Spending limits of the key, the member and the account. */
  readonly spendingLimits: readonly OwnedLimit[];
  /** Call limits; undefined if neither key nor account has one, and the call counts no tokens. */
  readonly limits?: AdmissionLimits | undefined;
  /** When the presented key value expires (milliseconds since the epoch, by Redis' clock); undefined: never. */
  readonly valueEndsAt?: number | undefined;
  /** The ledger shows model, category and endpoint if the gateway dies before it settles. */
  readonly model: string;
  readonly category: string;
  readonly endpoint: string;
}

/** The limits of a call's key and account, and the tokens it takes from them. */
export interface AdmissionLimits extends KeyAndAccountLimits {
  /**
   * Estimated tokens of the call, a whole number; a limit takes at most its capacity. Undefined: the call
   * counts tokens, and takes from the buckets of counting alone.
   */
  readonly tokens: number | undefined;
}

/**
 * Difference between the tokens a call used and those its admission took, for the limits of its key and its account.
 */
export interface TokenCorrection {
  readonly key: number;
  readonly account: number;
}

export type HoldId = Pick<Admission, 'requestId' | 'accountId' | 'keyId' | 'personId'>;

export type Admitted =
  | { readonly verdict: 'held'; readonly limits?: LimitStates }
  /** The records that authorized the call are outdated: reload and authorize again. */
  | { readonly verdict: 'stale' }
  /** The presented value was replaced by a rotation, and its grace period has ended. */
  | { readonly verdict: 'ended' }
  | {
      /** The call counts tokens, and no count of this minute is left. */
      readonly verdict: 'counted';
      readonly waitMs: number;
      /** Counts a minute. */
      readonly limit: number;
      readonly owner: LimitOwner;
    }
  /** A call limit is full; nothing was taken. `limits`: their current state. */
  | { readonly verdict: 'limited'; readonly limits: LimitStates }
  | {
      readonly verdict: 'over_limit';
      /** State of each limit of the admission, in their order. */
      readonly spending: readonly SpendingState[];
      readonly account: LiveAccount;
      readonly limits?: LimitStates;
    }
  | ({ readonly verdict: 'insufficient'; readonly balance: Micro; readonly limits?: LimitStates } & Reserved);

/** A spending limit of a call, as it was at admission. */
export interface SpendingState extends OwnedLimit {
  readonly spent: Micro;
  /** Σ of the holds of the owner's open calls, and of their estimates. */
  readonly held: Micro;
  readonly estimated: Micro;
  /** Start of the owner's five hours, in milliseconds since the epoch; 0: none yet. */
  readonly hours: number;
}

/** Micro-credits that open calls reserve of a balance or spending limit, and the overdraft that holds may use. */
interface Reserved {
  /** Sum of the holds of open calls. */
  readonly held: Micro;
  /** Sum of their estimates; at most `held`. */
  readonly estimated: Micro;
  readonly overdraft: Micro;
}

/** The part of an account whose live state is missing; empty: the account itself. */
export interface Stale {
  /** A key of the account whose live state is needed too. */
  readonly keyId?: number | null | undefined;
  /** A person with keys in the account whose live state is needed too. */
  readonly personId?: number | null | undefined;
  /** An outdated epoch: the account is live but must be rebuilt. */
  readonly epoch?: number | undefined;
}

/**
 * Reasons why the ledger could not decide: admissions kept running too late; no reply in time or a broken connection;
 * no connection; too many waiting calls; anything else, such as a full journal.
 */
export const UNDECIDED_REASONS = ['late', 'no_answer', 'not_connected', 'too_many', 'other'] as const;
export type UndecidedReason = (typeof UNDECIDED_REASONS)[number];

/** Thrown if Redis does not answer in time: the call gets 503. */
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

/** Thrown if a grant would move the balance beyond MAX_BALANCE. Nothing changed, and a retry fails too. */
export class BalanceBeyondBound extends Error {
  constructor() {
    super('the balance would be beyond what is exact');
  }
}

/** Current state of an account in Redis, in micro-credits. */
export interface LiveAccount extends Reserved {
  readonly balance: Micro;
}

/** A key, by its id, a person with keys in the account, or the account. */
export type WindowOwner = number | { readonly personId: number } | 'account';

/** The live state of accounts and keys in Redis, and its way into the book. */
export interface Ledger {
  /** Reserves the hold or returns the reason why not. Rejects with LedgerUnavailable. */
  admit(admission: Admission): Promise<Admitted>;
  /**
   * Turns a hold into a charge. Never throws; retries until Redis has it. Calls `onWire` once the command was written
   * to Redis (or could not be), so that the end of the answer may follow. `correction`: for calls with a token limit.
   */
  settle(draft: EntryDraft, onWire: () => void, correction?: TokenCorrection): void;
  /**
   * Returns everything the admission took, for a call that is not sent upstream. Leaves no ledger entry. Never throws.
   */
  cancel(call: HoldId): void;

  /** Finds a key, with its account, by the SHA-256 (hex) of its value. */
  find(hash: string): Promise<Subject | undefined>;
  /** Returns the current record of a key with its account, if it exists. */
  current(accountId: number, keyId: number): Promise<Subject | undefined>;

  /** Publishes a committed record: every gateway authorizes with it from now on. */
  publishKey(key: KeyRecord, hash?: string): Promise<void>;
  /** Publishes a key whose value was rotated. */
  publishRotatedKey(key: KeyRecord, endedHash: string | null): Promise<void>;
  publishAccount(account: AccountRecord): Promise<void>;

  /**
   * Applies a pending grant exactly once and returns the balance after it. Rejects with BalanceBeyondBound or
   * LedgerUnavailable.
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
   * Estimates Redis' clock for the account, in milliseconds since the epoch: never ahead of Redis, and at most a few
   * milliseconds behind.
   */
  now(accountId: number): number;
  /** Reads Redis' clock, in milliseconds since the epoch. Rejects with LedgerUnavailable. */
  time(accountId: number): Promise<number>;

  account(accountId: number): Promise<LiveAccount>;
  /**
   * Waits up to `withinMs` (default: 250 ms) until the book has all charges so far of the account, or of all accounts.
   * Returns false if it may lack some, because the book or Redis is slow or down. Never rejects.
   */
  flush(accountId: number | 'all', withinMs?: number): Promise<boolean>;
  /** What these have spent, in the given order. */
  windows(accountId: number, owners: readonly WindowOwner[]): Promise<Windows[]>;
  /** Sums of the holds and of the estimates of the calls in flight of an owner. */
  reserved(accountId: number, owner: WindowOwner): Promise<Pick<LiveAccount, 'held' | 'estimated'>>;
  /** Call limit states of a key and its account, by Redis' clock. */
  limitStates(accountId: number, keyId: number): Promise<LimitStates>;
  /**
   * Takes one request from the limits per minute of a key and its account, for a read of a job. `isTaken`: false if one
   * of them has none left, and nothing was taken. Rejects with LedgerUnavailable.
   */
  takeRequest(accountId: number, keyId: number): Promise<{ isTaken: boolean; limits: LimitStates }>;
}
