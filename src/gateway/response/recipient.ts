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

/** What a relay knows of an answer that ended, complete or cut off: enough to settle the call. */
export interface Reading {
  /** Reported usage. Undefined: `estimate` is charged. */
  readonly usage: Usage | undefined;
  /** Reported billing terms, such as the service tier. */
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
   * Reads the answer as if it ended now. Undefined before its first byte, and for provider errors.
   */
  reading(): Reading | undefined;
}

/** The receiving side of a relay: the client's connection and the call to be settled. */
export interface Recipient {
  readonly call: ReadCall;
  readonly exchange: Exchange;
  /** The gateway, not the client, asked for the usage chunk: it must not reach the client. */
  readonly injectedUsage: boolean;
  readonly raw: ServerResponse;
  /** The client has left: read the answer for its usage, write nothing. */
  readonly hasLeft: boolean;
  readonly hiddenTokensPerSecond: number;
  readonly cacheShares: CacheShares;
  /** Headers for the client: those of the upstream that may pass, then the gateway's own. */
  clientHeaders(
    answer: UpstreamAnswer,
    own?: Readonly<Record<string, string | number>>,
    isBytes?: boolean,
  ): string[];
  /** The model has several targets, so a call whose answer fails before it begins may move to another. */
  readonly isOfSeveral: boolean;
  /** Call when the answer begins to be shown, or is complete: no other target is tried from here on. */
  begins(): void;
  /** A 2xx answer failed before it began. `usage`: as reported. Returns true if the call moves to another target. */
  failedUnshown(message: string, usage?: Usage): boolean;
  /** The answer broke off before it began. Returns true if the call moves to another target. */
  brokeUnshown(error: Error): boolean;
  /** Ends the call with a refusal. Without a `reading` nothing is charged. */
  fail(refusal: GatewayError, outcome: Outcome, reading?: Reading): void;
  /** Writes a keep-alive before the answer has begun. */
  ping(answer: UpstreamAnswer, text: string): void;
  /** Records that the first event of a stream has arrived. */
  firstToken(): void;
  /** Detaches the reply from Fastify: the relay writes to the socket itself. */
  hijack(): void;
  /** Writes the head of a stream, and returns the writer of its parts. The head is written once. */
  openStream(answer: UpstreamAnswer): PartWriter;
  /**
   * Settles an answer that ended regularly. Without a `reading` nothing is charged. `finish` is called with the charge
   * in credits once the settle is on the wire to Redis, and writes the rest of the answer. `error`: the error in the
   * answer.
   */
  complete(
    status: number,
    reading: Reading | undefined,
    finish: (charge: string) => void,
    error?: CallError,
  ): void;
  /**
   * Settles an answer that broke off. No `reading`: before its first byte. If the client has seen part of it, its
   * connection is cut too.
   */
  broken(error: Error, status: number, reading: Reading | undefined): void;
}
