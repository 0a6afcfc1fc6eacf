import type { OutgoingHttpHeaders } from 'node:http';
import type { AnswerOptions, Piece } from '../../src/demo/answer.ts';
import type { DemoRequest } from '../../src/demo/listen.ts';

/** A request as the scripted provider received it. */
export interface ReceivedRequest extends DemoRequest {
  /** Headers as they were on the wire, names and values in turn. */
  readonly rawHeaders: readonly string[];
  /** Resolves when the exchange is over, with whether the answer was written whole or the connection ended first. */
  readonly ended: Promise<'answered' | 'broken'>;
}

/** Changes of the demo provider's answer to one request. */
export interface Behaviour extends AnswerOptions {
  /** Pause before the status line, in milliseconds. */
  readonly delayMs?: number;
  /** Status; default that of the demo's answer, or 200. */
  readonly status?: number;
  /** Headers that replace those of their names in the demo's answer, or those that go with `body`. */
  readonly headers?: OutgoingHttpHeaders;
  /** Body in place of the demo's: text or bytes; a list of them, written one by one; or an object, sent as JSON. */
  readonly body?: Piece | readonly Piece[] | Readonly<Record<string, unknown>>;
  /** Pause before every piece but the first, in milliseconds. */
  readonly intervalMs?: number;
  /**
   * Point at which the connection is destroyed: before the status line, or after so many pieces (0: after the headers).
   */
  readonly breakAfter?: 'nothing' | number;
  /** Point from which on nothing is sent while the connection stays open, counted as for `breakAfter`. */
  readonly stallAfter?: 'nothing' | number;
  /** A wait after so many pieces (0: after the headers), or before the status line, until the promise resolves. */
  readonly waitAfter?: { readonly pieces: 'nothing' | number; readonly until: Promise<unknown> };
  /** Called before anything is written, or nothing any more, after which a gateway may take the answer to be over. */
  readonly onEnding?: (() => void) | undefined;
}

/** Chooses how a request is answered; undefined for the demo's answer as it is. */
export type Behave = (request: ReceivedRequest) => Behaviour | undefined | Promise<Behaviour | undefined>;
