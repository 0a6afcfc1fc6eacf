import type { Answered } from '../driver/client.ts';
import { type LimitsModel, limitsFrom, NO_LIMITS } from './limits-model.ts';
import { type ValueModel, type ValuesModel, valuesFrom } from './values-model.ts';

/** The driver's knowledge of a history: what was asked and what was answered. The checker compares the book with it. */
export class Model {
  readonly accounts: AccountModel[] = [];
  readonly keys: KeyModel[] = [];
  readonly calls: CallModel[] = [];
  readonly topUps: TopUpModel[] = [];
  readonly estimatedCalls: EstimatedCallModel[] = [];
  /** Violations that were seen while the history ran. */
  readonly violations: string[] = [];
  /** Losses of Redis, each read in the instant in which it happened. */
  readonly losses: Loss[] = [];
  /** Times in which Redis or the book was in trouble for a gateway. */
  readonly troubles: Trouble[] = [];
}

export interface AccountModel {
  readonly id: number;
  readonly email: string;
  /** Initial credits in micro-credits. */
  readonly granted: number;
  /** The highest overdraft that it ever had, in micro-credits. */
  highestOverdraft: number;
  /** Thresholds in the order in which they were asked for; the first is that of the account's creation. */
  readonly thresholds: ThresholdModel[];
  /** Limits of the calls of its keys together. */
  readonly limits: LimitsModel;
}

/** A threshold that was asked for, and the entries of the ledger between which it came into force. */
export interface ThresholdModel {
  /** Amount in micro-credits. */
  readonly threshold: number;
  /** Last entry for which it was surely not in force, like all before; 0 where none is known. */
  readonly afterSeq: number;
  /** Entry after which it was surely in force; undefined where it is unknown whether and when that was. */
  surelyAfterSeq: number | undefined;
  readonly askedAt: number;
}

export interface KeyModel extends ValuesModel {
  readonly id: number;
  readonly account: AccountModel;
  /** Limits of its calls. */
  readonly limits: LimitsModel;
  /** Highest spending limit that it ever had, in micro-credits; null where it had none at some time. */
  highestLimit: number | null;
  /** Undefined where a change was not answered, so that either is possible. */
  isActive: boolean | undefined;
  /** True where only the model `tokens` is allowed; undefined where a change was not answered. */
  isRestricted: boolean | undefined;
  /** True where a change that lifts a refusal was not answered, so that it may come into force at any time. */
  mayOpen: boolean;
}

export interface CallModel {
  /** Number from 1, by which the upstream knows the call. */
  readonly id: number;
  readonly key: KeyModel;
  /** Value of the key that it was sent with. */
  readonly value: ValueModel;
  /** Slot of the gateway that it was sent to. */
  readonly slot: number;
  /** Set where the answer that the key is deleted, or restricted to another model, came before the call was sent. */
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
  /** Tokens that it was likely to use. */
  readonly tokens: number;
  /** Tokens that it used. */
  readonly usedTokens: number;
  readonly askedAt: number;
  /** Time of the answer that it is held. */
  heldAt: number | undefined;
  /** Time just before it was told to be settled. */
  settledAt: number | undefined;
  /** `asked`: no answer came. */
  state: 'asked' | 'refused' | 'held' | 'settled';
}

export interface TopUpModel {
  readonly account: AccountModel;
  /** Micro-credits, different for each; below 0 for an adjustment. */
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
  /** Change of the balance in micro-credits. */
  readonly credits: number;
  readonly keyId: number | null;
  /** Time by the clock of its gateway. */
  readonly createdAt: number;
  /** Time by the clock of Redis. */
  readonly journalledAt: number;
}

/** The data that Redis lost when it was emptied or set back, or when a replica took over. */
export interface Loss {
  /** Time from which on what was written may be lost. */
  readonly from: number;
  readonly at: number;
  /** Buckets that are affected. */
  readonly buckets: ReadonlySet<number>;
  /** Entries of its journals by id, none of which need be in the book. */
  readonly entries: ReadonlyMap<string, LostEntry>;
  /** Holds of calls in flight, by request id. */
  readonly holds: ReadonlyMap<string, LostHold>;
  /** Age of the oldest entry in milliseconds, by the clock of Redis; undefined where it was not measured. */
  readonly lagMs?: number;
  /** Request ids of holds that were settled and are there again. */
  readonly revived: ReadonlySet<string>;
  /**
   * Time in which running gateways make the loss good, where only the last moments were lost, as in a failover
   * (docs/guarantees.md). Undefined where Redis was emptied, which no gateway makes good.
   */
  readonly trouble?: Trouble;
  /** True where a replica took over, which has all older data. */
  readonly isFailover?: boolean;
  /** True where the master had stood still, so that afterwards it ran commands which its replica never gets. */
  readonly wasFrozen?: boolean;
}

export interface Trouble {
  /** Slot of the gateway in trouble; undefined for all. */
  readonly slot: number | undefined;
  /** True for trouble of the book, which affects only accounts that have to be rebuilt. */
  readonly ofBook: boolean;
  /** Buckets whose accounts are affected. */
  readonly buckets: ReadonlySet<number>;
  from: number;
  to: number;
}

/** A key as it was just created; `highestLimit` (of its spending) in micro-credits. */
export function keyModel(
  id: number,
  value: string,
  account: AccountModel,
  more: Partial<Pick<KeyModel, 'highestLimit' | 'limits'>> = {},
): KeyModel {
  return {
    id,
    ...valuesFrom(value),
    account,
    highestLimit: null,
    limits: limitsFrom(NO_LIMITS),
    isActive: true,
    isRestricted: false,
    mayOpen: false,
    ...more,
  };
}
