import type { ServerResponse } from 'node:http';
import type { Usage } from '../../domain/ledger-entry.ts';
import type { CountTokens } from '../../metering/tokens/token-counter.ts';
import type { ReadCall } from '../call.ts';
import type { Exchange, UpstreamAnswer } from '../upstream/exchange.ts';

/** What a relay knows of an answer when it ends, whole or not. */
export interface Reading {
  /** Undefined: not reported, to be estimated from `outputText`. */
  readonly usage: Usage | undefined;
  /** Estimates the usage from what was sent and received until now. */
  estimate(): Promise<Usage>;
  /** The answer itself says that the call failed. */
  readonly failed?: boolean;
  /** It failed before anything was made: nothing is charged. */
  readonly free?: boolean;
  /** Ids under which the provider stores the answer and its parts. */
  readonly resourceIds?: readonly string[];
}

/** What a client left behind of an answer whose usage may still come. */
export interface LeftBehind {
  /** What is charged where it does not. */
  readonly reading: Reading;
  /** It follows within a moment: nothing else is left of the answer. */
  readonly isClosing: boolean;
}

/** What is known of an answer of which nothing came. */
export const NO_USAGE: Reading = { usage: {}, estimate: async () => ({}) };

/** Whom a relay passes an answer to: the client's connection, and the call that it ends. */
export interface Recipient {
  readonly call: ReadCall;
  readonly exchange: Exchange;
  /** The gateway asked for usage, and the client did not. */
  readonly injectedUsage: boolean;
  readonly raw: ServerResponse;
  readonly countTokens: CountTokens;
  /** Headers of the client's answer: the upstream's, less what must not pass, with the gateway's own. */
  clientHeaders(answer: UpstreamAnswer, own?: Readonly<Record<string, string | number>>): string[];
  /** The first event of a stream came. */
  firstToken(): void;
  /** Takes the reply out of Fastify's hands: from here on the relay writes to the socket itself. */
  hijack(): void;
  /**
   * The upstream's answer has ended as it should. `finish` gets the charge and writes what is left of the answer,
   * once the settle is on the wire. `reading` undefined: nothing is charged.
   */
  complete(status: number, reading: Reading | undefined, finish: (charge: string) => void): void;
  /** The upstream broke off within its answer; the client must see that, if it has seen anything. */
  broken(error: Error, status: number, reading: Reading | undefined): void;
  /** What a client that left is charged is known, or will not be any better: nothing more is read. */
  settleLeft(reading: Reading | undefined): void;
}
