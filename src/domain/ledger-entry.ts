import type { Micro } from './credits.ts';
import type { Category } from './key.ts';
import type { Unit, Usage } from './units.ts';

export const ENTRY_TYPES = ['charge', 'top_up', 'adjustment', 'refund', 'expired_hold'] as const;
export type EntryType = (typeof ENTRY_TYPES)[number];

/** How a call ended. */
export const OUTCOMES = [
  'complete',
  'client_left',
  'upstream_broke',
  'upstream_error',
  'upstream_unreachable',
  'timeout',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Unit prices in micro-credits for `per` units each (units.ts), the same quantity as in a config file. */
export type AppliedUnits = Readonly<Partial<Record<Unit, Micro>>>;

/** One of a model's passes over its input, at the prices of its length tier. */
export interface AppliedPass {
  readonly usage: Usage;
  readonly price: AppliedUnits;
}

/** One try of a call at one target (specification section 12). */
export interface Attempt {
  /** Name of the upstream's credential: `openai`, `openai#2`. */
  readonly target: string;
  /** HTTP status of the answer; null if none arrived. */
  readonly status: number | null;
  /** Milliseconds from sending it until it had failed, or until the call ended. */
  readonly ms: number;
  /** Usage that a failed try reported. The operator pays for it, not the account. */
  readonly usage?: Usage;
}

/** A job that an upstream took on for a call, and reports on later. */
export interface Job {
  /** Name of the upstream's credential. Objects stored with one are unknown to another. */
  readonly upstream: string;
  readonly id: string;
  /** The endpoint's word for it, such as `videos`. */
  readonly kind: string;
}

/** Ids under which a provider stores an answer and parts of it; later calls of the account can name them. */
export interface ResourceIds extends Omit<Job, 'id'> {
  /** The answer's own id comes first. */
  readonly ids: readonly string[];
  /** Tokens behind the answer, and the most behind a part of it; null if unknown. */
  readonly tokens: readonly [whole: number, part: number] | null;
}

/** Starts of the five hours of a key, its account and, if it is a person's, its member; milliseconds since the epoch. */
export interface HourStarts {
  readonly key: number;
  readonly account: number;
  readonly member?: number;
}

/** An entry before Redis assigns its position and balance. */
export interface EntryDraft {
  /** The request id (`x-request-id`), a grant id, or `<request id>:refund`. Unique: the idempotency key of the book. */
  readonly id: string;
  readonly type: EntryType;
  readonly accountId: number;
  readonly keyId: number | null;
  /** The person whose key it is; absent: none. */
  readonly personId?: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly model: string | null;
  readonly category: Category | null;
  readonly endpoint: string | null;
  /** HTTP status of the answer to the client; 499: it left first; null if there was no call. */
  readonly status: number | null;
  readonly outcome: Outcome | null;
  readonly usage: Usage;
  readonly estimated: boolean;
  /** Signed: a charge is negative. */
  readonly credits: Micro;
  /** Name of the upstream in the configuration; for calls and their refunds. */
  readonly upstream?: string;
  /** Price of each unit that was used, in micro-credits for as many units as a config price names; for calls. */
  readonly price?: AppliedUnits;
  /** The passes, if they reached different length tiers: `usage` is their sum, and `price` that of the longest. */
  readonly passes?: readonly AppliedPass[];
  /** Multiplier of the service tier, in millionths, 0 for calls that are not billed; for calls. Absent: 1. */
  readonly multiplier?: number;
  /** Cost to the operator in micro-credits, negative for refunds; for calls at list prices. */
  readonly cost?: Micro;
  /** Each try, the last one too; absent for a single one whose status is the entry's. */
  readonly attempts?: readonly Attempt[];
  /** When the call was admitted, by Redis' clock, in milliseconds since the epoch; for calls. */
  readonly admittedAt?: number;
  /** The five hours in which the entry counts; for calls and their refunds. */
  readonly hours?: HourStarts;
  /** Milliseconds from the first byte of the call until it was settled; for calls. */
  readonly durationMs?: number;
  /** True if the answer was a stream; for calls. */
  readonly streamed?: boolean;
  /** Milliseconds from the first byte of the call until the head of the provider's answer; for calls. */
  readonly firstByteMs?: number;
  /** Error that the client got: code, message and param, each if there is one; a provider's if it answered. */
  readonly code?: string;
  readonly message?: string;
  readonly param?: string;
  /** Printable part of the client's User-Agent; for calls. */
  readonly userAgent?: string;
  readonly note?: string;
  /**
   * The job that the upstream accepted. It travels with the charge, so that whoever pays for a job also owns it, even
   * if a process dies in between.
   */
  readonly job?: Job;
  /** Ids of stored objects travel with the charge, so that the answer does not wait for the book. */
  readonly storedIds?: ResourceIds;
}

/** An entry in the ledger. */
export interface LedgerEntry extends EntryDraft {
  readonly seq: number;
  readonly balanceAfter: Micro;
}

/** Id of a charge's only possible refund. */
export function refundId(chargeId: string): string {
  return `${chargeId}:refund`;
}

/** An entry in the journal, on its way from Redis to the book, which assigns a new number. */
export interface JournalEntry extends EntryDraft {
  /** Position among the account's entries, from 1, as Redis counted. */
  readonly seq: number;
  /** Number of the rebuild of the account's live state in which the entry was made. */
  readonly epoch: number;
  /** Balance after the entry, as Redis counted. */
  readonly balanceAfter: Micro;
  /** Days since 1970-01-01 UTC to which the spend was booked. */
  readonly day: number;
  /** The alert threshold at the debit. */
  readonly threshold: Micro;
}
