import type { Answered } from './client.ts';

/** What the driver knows to be so: what was asked, what was answered. The checker holds the book against it. */
export class Model {
  readonly accounts: AccountModel[] = [];
  readonly keys: KeyModel[] = [];
  readonly calls: CallModel[] = [];
  readonly topUps: TopUpModel[] = [];
  readonly estimatedCalls: EstimatedCallModel[] = [];
  /** What was seen to be wrong while the history ran. */
  readonly violations: string[] = [];
  /** What Redis lost each time, read in that instant. */
  readonly losses: Loss[] = [];
  /** When Redis, or the book, was not what it should be for a gateway. */
  readonly troubles: Trouble[] = [];
}

export interface AccountModel {
  readonly id: number;
  readonly email: string;
  /** In micro-credits. */
  readonly granted: number;
  /** The highest overdraft that it ever had, in micro-credits. */
  highestOverdraft: number;
  /** In the order in which they were asked for; the first is that of the account's making. */
  readonly thresholds: ThresholdModel[];
}

/** A threshold that was asked for, and between which entries of the ledger it came into force. */
export interface ThresholdModel {
  /** In micro-credits. */
  readonly threshold: number;
  /** Not before the entry that follows this one; 0: unknown. */
  readonly afterSeq: number;
  /** For every entry that follows this one; undefined: nobody knows whether and when. */
  surelyAfterSeq: number | undefined;
  readonly askedAt: number;
}

export interface KeyModel {
  readonly id: number;
  readonly value: string;
  readonly account: AccountModel;
  /** The highest spending limit that it ever had, in micro-credits; null: none at some time. */
  highestLimit: number | null;
  /** Undefined: a change was not answered, either may be. */
  isActive: boolean | undefined;
  /** Whether the model `tokens` alone is allowed; undefined as above. */
  isRestricted: boolean | undefined;
  /** A change that lets it in again was not answered, and may come into force at any time. */
  mayOpen: boolean;
}

export interface CallModel {
  /** From 1; what the upstream knows it by. */
  readonly id: number;
  readonly key: KeyModel;
  /** Where it was sent. */
  readonly slot: number;
  /** The key was answered as deleted, or as not allowed to, before it was sent. */
  mustBeRefused: 'deleted' | 'restricted' | undefined;
  readonly startedAt: number;
  answer: Answered | undefined;
}

/** A call that was told to the ledger alone. In micro-credits. */
export interface EstimatedCallModel {
  readonly requestId: string;
  readonly keyId: number;
  readonly accountId: number;
  readonly estimate: number;
  readonly cost: number;
  /** `asked`: no answer came. */
  state: 'asked' | 'refused' | 'held' | 'settled';
}

export interface TopUpModel {
  readonly account: AccountModel;
  /** Micro-credits; no two are the same. Below 0: an adjustment. */
  readonly amount: number;
  readonly idempotencyKey: string;
  isAcknowledged: boolean;
}

export interface LostHold {
  readonly accountId: number;
  readonly keyId: number;
  readonly amount: number;
  readonly createdAt: number;
}

export interface LostEntry {
  readonly accountId: number;
  /** Micro-credits. */
  readonly credits: number;
  readonly keyId: number | null;
  /** By the clock of its gateway. */
  readonly createdAt: number;
  /** By the clock of Redis. */
  readonly journalledAt: number;
}

/** What Redis lost when it was emptied, or set back. */
export interface Loss {
  readonly at: number;
  /** What its journals held, by id: none of it need be in the book. */
  readonly entries: ReadonlyMap<string, LostEntry>;
  /** Holds of calls in flight, by request id. */
  readonly holds: ReadonlyMap<string, LostHold>;
  /** How old the oldest entry was, by the clock of Redis, in ms; undefined: not measured. */
  readonly lagMs?: number;
  /** Holds that were settled, and are there again. */
  readonly revived: ReadonlySet<string>;
  /**
   * Only the last moments were lost, as with a failover: gateways that live make them good by the end of this (docs/guarantees.md).
   * Undefined: nobody does, Redis was emptied.
   */
  readonly trouble?: Trouble;
  /** A replica took over: what it had before is there. */
  readonly isFailover?: boolean;
}

export interface Trouble {
  /** Undefined: every gateway. */
  readonly slot: number | undefined;
  /** The book's: in the way of what has to be rebuilt only. */
  readonly ofBook: boolean;
  /** Accounts of others are not concerned. */
  readonly buckets: ReadonlySet<number>;
  readonly from: number;
  to: number;
}
