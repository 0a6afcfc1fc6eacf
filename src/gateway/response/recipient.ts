import type { ServerResponse } from 'node:http';
import type { Usage } from '../../domain/usage.ts';
import type { CountTokens } from '../../metering/tokens/token-counter.ts';
import type { ReadCall } from '../call.ts';
import type { Exchange, UpstreamAnswer } from '../upstream/exchange.ts';

/** What a relay has learnt about an answer by its end, whole or broken off. */
export interface Reading {
  /** Undefined: not reported, to be estimated from `outputText`. */
  readonly usage: Usage | undefined;
  /** Service tiers as the answer reports them; undefined: it does not. */
  readonly serviceTiers?: readonly string[] | undefined;
  /** `usage` has tokens whose price is not known to be the model's. */
  readonly isEstimated?: boolean | undefined;
  /** The usage estimated from what was sent and received. */
  estimate(): Promise<Usage>;
  /** The answer itself says that the call failed. */
  readonly failed?: boolean;
  /** The call failed before the model produced anything: nothing is charged. */
  readonly free?: boolean;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[];
}

/** The unfinished answer of a client that has left, whose usage may still arrive. */
export interface LeftBehind {
  /** The reading that is charged if the usage does not arrive. */
  readonly reading: Reading;
  /** Only the usage is missing, so it should arrive within a moment. */
  readonly isClosing: boolean;
}

/** The reading of an answer that ended before any content. */
export const NO_USAGE: Reading = { usage: {}, estimate: async () => ({}) };

/** The receiving side of a relay: the client's connection and the call to be settled. */
export interface Recipient {
  readonly call: ReadCall;
  readonly exchange: Exchange;
  /** The gateway asked for usage although the client did not. */
  readonly injectedUsage: boolean;
  readonly raw: ServerResponse;
  readonly countTokens: CountTokens;
  /** Headers of the client's answer: the upstream's without those that must not pass, then the gateway's own. */
  clientHeaders(answer: UpstreamAnswer, own?: Readonly<Record<string, string | number>>): string[];
  /** The first event of a stream came. */
  firstToken(): void;
  /** Takes the reply out of Fastify's hands: from here on the relay writes to the socket itself. */
  hijack(): void;
  /**
   * Settles an answer that has ended regularly. `finish` is called once the settle is on the wire to Redis; it gets the
   * charge in credits and writes the rest of the answer. `reading` undefined: nothing is charged.
   */
  complete(status: number, reading: Reading | undefined, finish: (charge: string) => void): void;
  /** Settles an answer that broke off. If the client has seen part of it, its connection is broken off too. */
  broken(error: Error, status: number, reading: Reading | undefined): void;
  /** Settles the call of a client that has left: the usage is known, or will not become known. Stops reading. */
  settleLeft(reading: Reading | undefined): void;
}
