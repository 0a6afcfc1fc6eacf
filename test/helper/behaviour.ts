import type { OutgoingHttpHeaders } from 'node:http';
import type { AnswerOptions, Piece } from '../../src/demo/answer.ts';
import type { DemoRequest } from '../../src/demo/listen.ts';

/** A request as the scripted provider received it. */
export interface ReceivedRequest extends DemoRequest {
  /** Names and values in turn, as they were on the wire. */
  readonly rawHeaders: readonly string[];
  /** Resolves when the exchange is over: whether the answer was written whole, or the connection ended first. */
  readonly ended: Promise<'answered' | 'broken'>;
}

/** How one request is to be answered where the demo provider's answer will not do. All are optional. */
export interface Behaviour extends AnswerOptions {
  /** Pause before the status line, in milliseconds. */
  readonly delayMs?: number;
  /** Default 200, or what the demo's answer has. */
  readonly status?: number;
  /** Laid over those of the demo's answer, or of the kind of `body`. */
  readonly headers?: OutgoingHttpHeaders;
  /** Instead of the demo's answer: text or bytes; a list of them, written one by one; or an object, sent as JSON. */
  readonly body?: Piece | readonly Piece[] | Readonly<Record<string, unknown>>;
  /** Pause before every piece but the first, in milliseconds. */
  readonly intervalMs?: number;
  /** The connection is destroyed: before the status line, or after so many pieces (0: after the headers). */
  readonly breakAfter?: 'nothing' | number;
  /** Nothing more is sent, and the connection stays open: counted as `breakAfter` is. */
  readonly stallAfter?: 'nothing' | number;
}

/** Undefined: the demo's answer as it is. */
export type Behave = (request: ReceivedRequest) => Behaviour | undefined | Promise<Behaviour | undefined>;
