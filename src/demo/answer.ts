import type { OutgoingHttpHeaders } from 'node:http';

export type Piece = string | Buffer;

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Written one by one, in this order. */
  readonly pieces: readonly Piece[];
}

/** What an answer is to say, where that should not follow from the request. All are optional. */
export interface AnswerOptions {
  /** What a text answer or transcript says, instead of the built-in text. */
  readonly text?: string;
  /** Into how many content chunks a streamed text answer is cut. Default: one a word. */
  readonly chunks?: number;
  /** False: the answer reports none, though asked. An object: reported as it stands. */
  readonly usage?: false | Readonly<Record<string, unknown>>;
}

/** An answer of JSON. */
export function json(status: number, value: Readonly<Record<string, unknown>>): Answer {
  const text = JSON.stringify(value);
  return {
    status,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    pieces: [text],
  };
}

/** A refusal in OpenAI's shape. */
export function failure(status: number, message: string): Answer {
  return json(status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
}

/** An event of a stream of OpenAI's Responses or Anthropic's Messages: it is named by the `type` of its data. */
export function namedEvent(data: Readonly<Record<string, unknown>> & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/**
 * A stream of server-sent events, each named by its `type`, as OpenAI's streams of sound, pictures and transcripts are.
 */
export function typedEvents(
  events: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[],
): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    pieces: events.map(namedEvent),
  };
}
