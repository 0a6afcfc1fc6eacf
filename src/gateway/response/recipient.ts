import type { ServerResponse } from 'node:http';
import type { Terms } from '../../domain/bill.ts';
import type { GatewayError } from '../../domain/errors.ts';
import type { Outcome } from '../../domain/ledger-entry.ts';
import type { Usage } from '../../domain/units.ts';
import type { ReadCall } from '../call.ts';
import type { Exchange, UpstreamAnswer } from '../upstream/exchange.ts';
import type { CacheShares } from './cache-shares.ts';
import type { PartWriter } from './part-writer.ts';
import type { CallError } from './provider-error.ts';

/** A relay's knowledge of an answer that has ended, whole or broken off: enough to settle the call. */
export interface Reading {
  /** The usage that the provider reported; undefined if it reported none, so that `estimate` is charged. */
  readonly usage: Usage | undefined;
  /** What the answer reports of its bill beside the usage. */
  readonly terms?: Terms | undefined;
  /** `usage` has tokens whose price is not known to be the model's. */
  readonly isEstimated?: boolean | undefined;
  /** The usage estimated from what was sent and received. */
  estimate(): Usage;
  /** True if the answer itself says that the call failed. */
  readonly failed?: boolean;
  /** True if nothing is charged. */
  readonly free?: boolean;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[];
}

/** Reads the answer of one call and passes it on. */
export interface Relay {
  /**
   * The reading of an answer that ends now, before its report; undefined if no byte of it has come, or if it is the
   * provider's error.
   */
  reading(): Reading | undefined;
}

/** The receiving side of a relay: the client's connection and the call to be settled. */
export interface Recipient {
  readonly call: ReadCall;
  readonly exchange: Exchange;
  /** True if the gateway asked for usage although the client did not, so that it must be taken out of the answer. */
  readonly injectedUsage: boolean;
  readonly raw: ServerResponse;
  /** True once the client has left: the answer is read for its report, and nothing is written. */
  readonly hasLeft: boolean;
  readonly hiddenTokensPerSecond: number;
  readonly cacheShares: CacheShares;
  /** Headers of the client's answer: the upstream's without those that must not pass, then the gateway's own. */
  clientHeaders(
    answer: UpstreamAnswer,
    own?: Readonly<Record<string, string | number>>,
    isBytes?: boolean,
  ): string[];
  /** The model has several targets: an answer that fails before it begins may go on at another. */
  readonly isOfSeveral: boolean;
  /** To be called when the answer begins to be shown, or is whole: it is the target's from here on. */
  begins(): void;
  /** An answer of status 2xx failed before it began. `usage`: what it reported. True if the call goes on elsewhere. */
  failedUnshown(message: string, usage?: Usage): boolean;
  /** The answer broke off before it began. True if the call goes on elsewhere. */
  brokeUnshown(error: Error): boolean;
  /** Ends the call with a refusal; without a `reading` nothing is charged. */
  fail(refusal: GatewayError, outcome: Outcome, reading?: Reading): void;
  /** Writes a sign of life to a client whose answer has not begun. */
  ping(answer: UpstreamAnswer, text: string): void;
  /** Records that the first event of a stream has arrived. */
  firstToken(): void;
  /** Takes the reply out of Fastify's hands: from here on the relay writes to the socket itself. */
  hijack(): void;
  /** Writes the head of a stream, and returns the writer of its parts. The head is written once. */
  openStream(answer: UpstreamAnswer): PartWriter;
  /**
   * Settles an answer that has ended regularly; without a `reading` nothing is charged. `finish` is called once the
   * settle is on the wire to Redis; it gets the charge in credits and writes the rest of the answer. `error`: the error
   * that the answer tells the client.
   */
  complete(
    status: number,
    reading: Reading | undefined,
    finish: (charge: string) => void,
    error?: CallError,
  ): void;
  /**
   * Settles an answer that broke off; without a `reading` nothing of it has come. If the client has seen part of it,
   * its connection is broken off too.
   */
  broken(error: Error, status: number, reading: Reading | undefined): void;
}
