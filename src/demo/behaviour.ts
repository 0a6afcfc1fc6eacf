import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/** A request as the provider received it, its body read to the end. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were on the wire. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Resolves when the exchange is over: whether the answer was written whole, or the connection ended first. */
  readonly ended: Promise<'answered' | 'broken'>;
}

export type Piece = string | Buffer;

/** How one request is to be answered where the built-in answer will not do: for tests and load tests. All are optional. */
export interface Behaviour {
  /** Pause before the status line, in milliseconds. */
  readonly delayMs?: number;
  /** Default 200, or what the built-in answer has. */
  readonly status?: number;
  /** Laid over those of the built-in answer, or of the kind of `body`. */
  readonly headers?: OutgoingHttpHeaders;
  /** Instead of the built-in answer: text or bytes; a list of them, written one by one; or an object, sent as JSON. */
  readonly body?: Piece | readonly Piece[] | Readonly<Record<string, unknown>>;
  /** What a text answer or transcript says, instead of the built-in text. */
  readonly text?: string;
  /** Into how many content chunks a streamed text answer is cut. Default: one a word. */
  readonly chunks?: number;
  /** False: the answer reports none, though asked. An object: reported as it stands. */
  readonly usage?: false | Readonly<Record<string, unknown>>;
  /** Pause before every piece but the first, in milliseconds. */
  readonly intervalMs?: number;
  /** The connection is destroyed: before the status line, or after so many pieces (0: after the headers). */
  readonly breakAfter?: 'nothing' | number;
  /** Nothing more is sent, and the connection stays open: counted in the same way. */
  readonly stallAfter?: 'nothing' | number;
}

/** Undefined: the built-in answer as it is. */
export type Behave = (request: ReceivedRequest) => Behaviour | undefined | Promise<Behaviour | undefined>;
