import type { CallLimits } from '../domain/call-limits.ts';
import type { Micro } from '../domain/credits.ts';
import type { AccountRecord, KeyRecord } from '../domain/key.ts';
import type { EntryType, JournalEntry, LedgerEntry } from '../domain/ledger-entry.ts';
import type { PeriodStarts } from '../domain/period.ts';
import type { Usage } from '../domain/units.ts';
import type { BookCalls } from './calls.ts';
import type { BookKeys, NewKey } from './keys.ts';
import type { BookRefusals } from './refusals.ts';
import type { KeyRotations } from './rotation.ts';

/** A limit of calls that is absent is none. */
export interface NewAccount extends Partial<CallLimits> {
  readonly email: string;
  readonly alertThreshold: Micro;
  /** Default 0. */
  readonly overdraft?: Micro;
  readonly webhookSecret: string;
}

/** A change of balance that an operator ordered; recorded before Redis applies it, so that no crash loses it. */
export interface Grant {
  readonly id: string;
  readonly accountId: number;
  /** Micro-credits; negative: taken away. */
  readonly amount: Micro;
  readonly type: 'top_up' | 'adjustment';
  readonly note: string;
  readonly createdAt: number;
  /** Balance right after the grant was applied; null while its ledger entry is not in the book yet. */
  readonly balanceAfter: Micro | null;
}

/** Outcome of offering a journal entry to the book. */
export type PostResult =
  /** The entry was written now. */
  | 'posted'
  /** An entry with this id was written before. */
  | 'duplicate'
  /** The book has no such account, or its balance no room for the entry (2^53 micro-credits). It may have room later. */
  | 'refused';

/** An account whose live state may differ from the book: it must be rebuilt in a later epoch than this. */
export interface DivergedAccount {
  readonly accountId: number;
  readonly epoch: number;
}

export interface Posting {
  /** Results in the order of the entries that were offered. */
  readonly results: readonly PostResult[];
  /**
   * Accounts with an entry of another epoch than the book's, or one that Redis counted twice, or gave another seq or balance
   * than the book does. Their epoch in the book is over with this posting, so that they are found if nobody rebuilds them.
   */
  readonly diverged: readonly DivergedAccount[];
  /** Number of alerts that crossings queued. */
  readonly alerts: number;
}

export interface KeyState {
  readonly key: KeyRecord;
  /** Credits spent since the start of each period. */
  readonly daySpent: Micro;
  readonly weekSpent: Micro;
  readonly monthSpent: Micro;
}

/** The state that the live state of an account is rebuilt from. `epoch` is new with each call. */
export interface AccountSnapshot {
  readonly account: AccountRecord;
  readonly balance: Micro;
  readonly seq: number;
  readonly epoch: number;
  readonly keys: readonly KeyState[];
  /** The ids among those asked for that the ledger has: their entries are in the balance. */
  readonly known: ReadonlySet<string>;
  /** Grants that are recorded but not in the ledger, so not in the balance; oldest first. */
  readonly pendingGrants: readonly Grant[];
}

export interface LedgerQuery {
  readonly accountId: number;
  readonly keyId?: number | undefined;
  readonly type?: EntryType | undefined;
  readonly model?: string | undefined;
  /** Entries booked to these UTC days only: days since 1970-01-01, both included. */
  readonly fromDay?: number | undefined;
  readonly toDay?: number | undefined;
  /** Entries with a lower seq than this only. */
  readonly before?: number | undefined;
  /** 1–1,000. */
  readonly limit: number;
}

export interface UsageRow {
  /** `YYYY-MM-DD`, the key id, or the model, by group. */
  readonly group: string | number | null;
  readonly calls: number;
  /** Calls that failed. */
  readonly failed: number;
  /** Calls that the gateway refused, which are not among `calls`. */
  readonly refused: number;
  /** Positive: micro-credits spent (charges less refunds). Sums may exceed the integers that a number holds exactly. */
  readonly credits: bigint;
  readonly usage: Usage;
}

/** Things that a report of usage can tell apart. */
export type UsagePlace = 'hour' | 'day' | 'key' | 'model' | 'account' | 'upstream';

/** Sums of one group of a report by one or two things, in their order; an hour is a timestamp. */
export interface UsageByRow extends Omit<MarginRow, 'group'> {
  readonly groups: readonly UsageRow['group'][];
}

/** Ways to group the operator's usage report. */
export type MarginGroup = 'account' | 'key' | 'model' | 'upstream' | 'day';

/** Sums over several accounts. `group`: an id, a name, or a day as `YYYY-MM-DD`; null: the entries name none. */
export interface MarginRow extends UsageRow {
  /** Micro-credits that providers take for the calls whose cost is known. */
  readonly cost: bigint;
  /** Micro-credits of `credits` that these calls were charged. */
  readonly costed: bigint;
}

export const DELIVERY_STATUSES = ['delivered', 'failed', 'timeout', 'blocked', 'unknown'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

export interface Delivery {
  readonly id: number;
  readonly keyId: number;
  readonly url: string;
  readonly status: DeliveryStatus;
  readonly httpStatus: number | null;
  readonly durationMs: number | null;
  readonly attemptedAt: number;
}

export interface Alert {
  readonly id: number;
  readonly createdAt: number;
  readonly creditsBalance: Micro;
  readonly test: boolean;
  readonly deliveries: readonly Delivery[];
}

/** An alert that this process alone may send. Its deliveries are in the book already, as `unknown`. */
export interface ClaimedAlert {
  readonly id: number;
  readonly accountId: number;
  readonly email: string;
  readonly webhookSecret: string;
  readonly creditsBalance: Micro;
  readonly test: boolean;
  readonly createdAt: number;
  /** The first page of deliveries, by id; `plannedDeliveries` reads the next ones. */
  readonly deliveries: readonly PlannedDelivery[];
}

/** One POST of an alert. */
export interface PlannedDelivery {
  readonly id: number;
  readonly keyId: number;
  readonly url: string;
}

/**
 * Something that a provider stores for a call. It belongs to the account that made the call (specification section 4).
 */
export interface ProviderResource {
  readonly accountId: number;
  /** Name of the upstream in the configuration; ids are only unique within one. */
  readonly upstream: string;
  readonly id: string;
  /** The endpoint's word for it, as `response`. */
  readonly kind: string;
  readonly keyId: number;
  readonly model: string;
  /** Tokens that a call which names it reads besides its own, if that is known. */
  readonly tokens: number | null;
  readonly createdAt: number;
  /** Ledger id of the call that made it. */
  readonly chargeId: string;
}

/** The charge of a call, as a refund needs it. */
export interface Charge {
  readonly entry: LedgerEntry;
  /** The day to which it was booked: days since 1970-01-01 UTC. */
  readonly day: number;
  /** Its refund is in the ledger. */
  readonly isRefunded: boolean;
}

/** Thrown if an e-mail address belongs to another account. */
export class EmailTaken extends Error {}
/** Thrown if an Idempotency-Key was used before with another amount or note. */
export class IdempotencyKeyReused extends Error {}
/** Thrown if an account may have no more test alerts within this minute. */
export class TooManyTestAlerts extends Error {
  /** Time until another one may be sent: 1–60,000 ms. */
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('too many test alerts');
    this.retryAfterMs = retryAfterMs;
  }
}
/** Thrown if the database cannot be reached or does not answer in time. */
export class BookUnavailable extends Error {}

/**
 * The database of record: accounts, keys, ledger, grants, alerts. One implementation over Kysely serves SQLite
 * and PostgreSQL. Every method rejects with BookUnavailable when the database is out of reach. All times are
 * milliseconds since the epoch, all amounts micro-credits.
 */
export interface Book extends BookKeys, KeyRotations, BookCalls, BookRefusals {
  /** Random, made with the tables. Live state in Redis is named after it, so that none of another book is taken for this one's. */
  readonly id: string;
  ping(): Promise<void>;
  close(): Promise<void>;

  /** Makes an account, its first key and (with `grant`) a pending top-up in one transaction. Throws EmailTaken. */
  createAccount(
    account: NewAccount,
    firstKey: NewKey,
    grant: { id: string; amount: Micro; note: string } | null,
    now: number,
  ): Promise<{ account: AccountRecord; key: KeyRecord }>;
  account(id: number): Promise<AccountRecord | undefined>;
  /** E-mail addresses of accounts, by id. */
  emails(ids: readonly number[]): Promise<ReadonlyMap<number, string>>;
  /** Accounts with ids above `after`, by id ascending; with `emailPart` only those with it in their e-mail address, in any case. */
  accounts(after: number, limit: number, emailPart?: string): Promise<(AccountRecord & { balance: Micro })[]>;
  /** Changes an account, whose version grows by one. Undefined: there is none. Throws EmailTaken. */
  updateAccount(
    id: number,
    change: {
      email?: string;
      alertThreshold?: Micro;
      overdraft?: Micro;
      isActive?: boolean;
    } & Partial<CallLimits>,
    now: number,
  ): Promise<AccountRecord | undefined>;

  /** Keys and accounts whose last change was not confirmed as published to Redis. */
  unpublished(limit: number): Promise<{ keys: KeyRecord[]; accounts: AccountRecord[] }>;
  /** Keys and accounts changed, or first published as they are, at or after `since`. */
  changedSince(since: number): Promise<{ keys: KeyRecord[]; accounts: AccountRecord[] }>;
  /** Notes that Redis holds these versions, since `now`. Never lowers a noted version. */
  published(
    what: {
      keys?: readonly { id: number; version: number }[];
      accounts?: readonly { id: number; version: number }[];
    },
    now: number,
  ): Promise<void>;

  /**
   * Records a change of balance before Redis applies it. If the account already has a grant with this idempotency key,
   * returns that grant with `repeated: true`. Throws IdempotencyKeyReused.
   */
  createGrant(
    grant: Omit<Grant, 'balanceAfter'>,
    idempotencyKey: string | null,
  ): Promise<{ grant: Grant; repeated: boolean }>;
  /** The grant that was recorded with this idempotency key before; undefined: none. Throws IdempotencyKeyReused. */
  grantUnder(grant: Omit<Grant, 'balanceAfter'>, idempotencyKey: string): Promise<Grant | undefined>;
  /** Removes a grant that was refused and has no ledger entry; its idempotency key is free again. */
  withdrawGrant(id: string): Promise<void>;
  /** Grants without a ledger entry, created before `createdBefore`. */
  pendingGrants(createdBefore: number, limit: number): Promise<Grant[]>;
  /** Grants of the account that were recorded before this one and have no ledger entry either, oldest first. */
  grantsBefore(grant: Pick<Grant, 'id' | 'accountId' | 'createdAt'>): Promise<Grant[]>;

  /**
   * Posts journal entries to the ledger in one transaction, with balances, sums of days, alerts of crossings and the state
   * of grants. Entries come in journal order. Safe to repeat.
   */
  post(entries: readonly JournalEntry[]): Promise<Posting>;
  /** The ids among these that the ledger has. */
  entriesAmong(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** The entry of the account with that id. */
  entry(accountId: number, id: string): Promise<LedgerEntry | undefined>;
  /** The charge of the account with that id. */
  charge(accountId: number, id: string): Promise<Charge | undefined>;
  /**
   * Begins a new epoch of the account, and reads the state that its live state is rebuilt from, with which of these entries
   * are in it. Undefined: no such account.
   */
  snapshot(
    accountId: number,
    starts: PeriodStarts,
    ids?: readonly string[],
  ): Promise<AccountSnapshot | undefined>;
  /** Accounts with an entry at or after `since` (ms since the epoch), with their last seq and epoch. */
  recentAccounts(since: number): Promise<{ id: number; seq: number; epoch: number }[]>;

  /**
   * Times of the latest call in the ledger, a charge or an expired hold, of each of these keys that has one, by its id. The
   * latest is what was booked last.
   */
  lastCalls(accountId: number, keyIds: readonly number[]): Promise<ReadonlyMap<number, number>>;

  /** Entries of the ledger, newest first. */
  ledger(query: LedgerQuery): Promise<LedgerEntry[]>;
  /** Sums over whole UTC days, `fromDay` ≤ day < `toDay` (days since 1970-01-01), of one key or all; groups ascending. */
  usage(
    accountId: number,
    fromDay: number,
    toDay: number,
    groupBy: 'day' | 'key' | 'model',
    keyId?: number,
  ): Promise<UsageRow[]>;

  /**
   * Sums of all accounts over whole UTC days, as `usage` counts days, with the providers' cost. They come in parts, each of
   * some accounts by id ascending: a group other than an account or a key can be in several. Only sums are read, never
   * the ledger; each part is of one moment.
   */
  usageOfAll(fromDay: number, toDay: number, groupBy: MarginGroup): AsyncIterable<readonly MarginRow[]>;

  /**
   * Sums by one or two things over hours (since the epoch; one of the groups is `hour`) or days, `from` ≤ hour or day < `to`.
   * They come in parts by time: a group can be in several.
   */
  usageBy(query: {
    /** Absent: all accounts. */
    readonly accountId?: number | undefined;
    readonly keyId?: number | undefined;
    readonly groups: readonly UsagePlace[];
    readonly from: number;
    readonly to: number;
  }): AsyncIterable<readonly UsageByRow[]>;

  /** Ids of queued alerts, oldest first. */
  queuedAlerts(limit: number): Promise<number[]>;
  /**
   * The next alert of each account that has one queued, oldest first, but for the accounts in `except`. Alerts of crossings
   * come before the account's tests: an owner who tests often does not wait for the real alert.
   */
  dueAlerts(except: readonly number[], limit: number): Promise<{ id: number; accountId: number }[]>;
  /**
   * Makes this process the only sender of the alert, and writes its deliveries as `unknown`: one for each key that is
   * active, not expired and has a webhook; of a test one for each of their addresses, 20 at most, that of the key that
   * asked for it first. Undefined: another process has claimed it, or it is gone.
   */
  claimAlert(id: number, now: number): Promise<ClaimedAlert | undefined>;
  /** Deliveries of a claimed alert with ids above `after`, by id ascending; empty: there are no more. */
  plannedDeliveries(alertId: number, after: number): Promise<PlannedDelivery[]>;
  finishDelivery(
    deliveryId: number,
    outcome: { status: DeliveryStatus; httpStatus: number | null; durationMs: number; attemptedAt: number },
  ): Promise<void>;
  /**
   * Queues a test alert that a key asks for, and returns its id; older tests than the last hundred are removed. Throws
   * TooManyTestAlerts beyond five a minute over all gateways.
   */
  createTestAlert(accountId: number, keyId: number, creditsBalance: Micro, now: number): Promise<number>;
  /** Alerts of the account, newest first: at most `limit`, and fewer if they have more than 10,000 deliveries together. */
  alerts(accountId: number, limit: number): Promise<Alert[]>;

  /** The account's own among these ids at the upstream, in no order; those of others are left out, as if unknown. */
  resources(accountId: number, upstream: string, ids: readonly string[]): Promise<ProviderResource[]>;
  /** The account's resource of that kind and id; the newest, if two upstreams use the same id. */
  resource(accountId: number, kind: string, id: string): Promise<ProviderResource | undefined>;
  /** Ends the ownership for good: the provider has deleted the resource. */
  releaseResource(
    resource: Pick<ProviderResource, 'accountId' | 'upstream' | 'id'>,
    now: number,
  ): Promise<void>;

  /** For each account: stored balance, Σ of its ledger, and the last entry's balance_after (null: no entry). */
  reconcile(): AsyncIterable<{
    accountId: number;
    email: string;
    balance: Micro;
    ledgerSum: Micro;
    lastBalanceAfter: Micro | null;
  }>;
}
