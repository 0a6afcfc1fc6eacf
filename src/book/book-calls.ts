import type { LedgerEntry, Outcome } from '../domain/ledger-entry.ts';
import type { RefusedCall } from '../domain/refused-call.ts';

/** How calls are filtered by their end: as they should, refused by the gateway, or any other way. */
export const CALL_RESULTS = ['ok', 'refused', 'failed'] as const;
export type CallResult = (typeof CALL_RESULTS)[number];

/** A place in the list of calls: that of this call. */
export interface CallPlace {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly id: string;
}

/** The calls that came in between two times, of which absent filters leave nothing out. */
export interface CallQuery {
  /** Absent: all accounts. */
  readonly accountId?: number | undefined;
  readonly keyId?: number | undefined;
  /** As the request named it. */
  readonly model?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly code?: string | undefined;
  readonly outcome?: Outcome | 'refused' | undefined;
  readonly result?: CallResult | undefined;
  readonly upstream?: string | undefined;
  /** Milliseconds since the epoch, both included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Older calls than this one only. */
  readonly before?: CallPlace | undefined;
  /** 1–1,000. */
  readonly limit: number;
}

/** A call that reached an upstream, by its ledger entry, or one that was refused. */
export type CallRecord = CallPlace &
  (
    | { readonly entry: LedgerEntry; readonly refused?: undefined }
    | {
        readonly refused: RefusedCall;
        /** Number of calls that the record stands for. */
        readonly repeated: number;
      }
  );

/** Calls of one key, code and minute that have no record of their own. */
export interface RepeatedRefusal {
  readonly first: RefusedCall;
  readonly repeated: number;
}

/** Calls that were refused in an hour (since the epoch), by key and by the model's name in the catalog. */
export interface RefusedCount {
  readonly accountId: number;
  readonly keyId: number;
  readonly slug: string | null;
  readonly hour: number;
  readonly count: number;
}

export interface RefusalBatch {
  readonly calls: readonly RefusedCall[];
  readonly repeated: readonly RepeatedRefusal[];
  readonly counts: readonly RefusedCount[];
}

/** The part of the book that records calls (specification section 14). */
export interface BookCalls {
  /**
   * Records refused calls. Of one key, code and minute the first `perMinute` of all gateways get a record each (a few more if
   * gateways write at the same time), and all others are one record.
   */
  recordRefusals(batch: RefusalBatch, perMinute: number): Promise<void>;
  /**
   * Removes at most `limit` of the oldest refused calls: those of before `before` (ms since the epoch), and those that are more
   * than `rows`. Returns how many were removed.
   */
  forgetRefusals(oldest: { before: number; rows: number; limit: number }): Promise<number>;
  /** Calls, newest first: by the time when they came in, then by id. */
  calls(query: CallQuery): Promise<CallRecord[]>;
  /** A call of an account, or with `undefined` of any. */
  call(accountId: number | undefined, id: string): Promise<CallRecord | undefined>;
}
