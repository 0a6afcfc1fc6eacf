import type { Answered } from '../driver/client.ts';
import { type LimitsModel, limitsFrom, NO_LIMITS } from './limits-model.ts';
import { type SpendingModel, spendingFrom } from './spending-model.ts';
import { type ValueModel, type ValuesModel, valuesFrom } from './values-model.ts';

/** The driver's knowledge of a history: its requests and their answers. The checker compares the book with it. */
export class Model {
  readonly accounts: AccountModel[] = [];
  readonly keys: KeyModel[] = [];
  readonly calls: CallModel[] = [];
  readonly topUps: TopUpModel[] = [];
  readonly estimatedCalls: EstimatedCallModel[] = [];
  /** Violations that were seen while the history ran. */
  readonly violations: string[] = [];
  /** Losses of Redis, each read at the moment it happened. */
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
  /** Requested thresholds in order; the first is from the creation of the account. */
  readonly thresholds: ThresholdModel[];
  /** Limits of the calls of its keys together. */
  readonly limits: LimitsModel;
  /** Limits of the spending of its keys together. */
  readonly spending: SpendingModel;
}

/** A requested threshold, and the ledger entries between which it took effect. */
export interface ThresholdModel {
  /** Amount in micro-credits. */
  readonly threshold: number;
  /** Last entry up to which it was certainly not in force; 0 if unknown. */
  readonly afterSeq: number;
  /** Entry after which it was certainly in force; undefined if unknown. */
  surelyAfterSeq: number | undefined;
  readonly askedAt: number;
}

export interface KeyModel extends ValuesModel {
  readonly id: number;
  readonly account: AccountModel;
  /** Limits of its calls. */
  readonly limits: LimitsModel;
  /** Its list of spending limits. */
  readonly spending: SpendingModel;
  /** Highest `spending_limit` that it ever had, in micro-credits; null if it ever had none. */
  highestLimit: number | null;
  /** Undefined after a change without an answer. */
  isActive: boolean | undefined;
  /** True if only the model `tokens` is allowed; undefined after a change without an answer. */
  isRestricted: boolean | undefined;
  /** True after a change without an answer that would lift a refusal, and may take effect at any time. */
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
  /** Set if the deletion or restriction of the key was confirmed before the call was sent. */
  mustBeRefused: 'deleted' | 'restricted' | undefined;
  readonly startedAt: number;
  answer: Answered | undefined;
}

/** A call made directly to the ledger. In micro-credits. */
export interface EstimatedCallModel {
  readonly requestId: string;
  readonly keyId: number;
  readonly accountId: number;
  readonly estimate: number;
  readonly cost: number;
  /** Estimated tokens. */
  readonly tokens: number;
  /** Tokens that it used. */
  readonly usedTokens: number;
  readonly askedAt: number;
  /** Time of the answer to its admission. */
  heldAt: number | undefined;
  /** Time just before its settle. */
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

/** Data that Redis lost when it was emptied or set back, or when a replica took over. */
export interface Loss {
  /** Writes after this time may be lost. */
  readonly from: number;
  readonly at: number;
  /** Buckets that are affected. */
  readonly buckets: ReadonlySet<number>;
  /** Entries of its journals by id; the book may lack each of them. */
  readonly entries: ReadonlyMap<string, LostEntry>;
  /** Holds of calls in flight, by request id. */
  readonly holds: ReadonlyMap<string, LostHold>;
  /** Age of the oldest entry in milliseconds, by the clock of Redis; undefined if it was not measured. */
  readonly lagMs?: number;
  /** Request ids of settled holds that came back. */
  readonly revived: ReadonlySet<string>;
  /**
   * Time in which running gateways restore the loss of the last moments, as in a failover (docs/guarantees.md).
   * Undefined if Redis was emptied, which no gateway restores.
   */
  readonly trouble?: Trouble;
  /** True if a replica took over; it has all older data. */
  readonly isFailover?: boolean;
  /** True if the master was frozen, and afterwards ran commands that its replica never gets. */
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

/** A newly created key; `highestLimit` (of its spending) in micro-credits. */
export function keyModel(
  id: number,
  value: string,
  account: AccountModel,
  more: Partial<Pick<KeyModel, 'highestLimit' | 'limits' | 'spending'>> = {},
): KeyModel {
  return {
    id,
    ...valuesFrom(value),
    account,
    highestLimit: null,
    limits: limitsFrom(NO_LIMITS),
    spending: spendingFrom([]),
    isActive: true,
    isRestricted: false,
    mayOpen: false,
    ...more,
  };
}
