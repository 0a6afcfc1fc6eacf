import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { firstTokens } from './read-request.ts';

export type Piece = string | Buffer;

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Pieces of the body, each written by itself, in this order. */
  readonly pieces: readonly Piece[];
}

/** Settings of an answer that override the request. */
export interface AnswerOptions {
  /** Text of a text answer or transcript, in place of the built-in text. */
  readonly text?: string;
  /** Number of content chunks of a streamed text answer. Default: one for each word. */
  readonly chunks?: number;
  /** Usage to report as it is; false for none, even if the request asks for it. */
  readonly usage?: false | Readonly<Record<string, unknown>>;
}

/**
 * Handler of one path. An object is sent as JSON, a list as the events of a stream, and undefined as a 400. The answer
 * depends on the request and the options alone, byte for byte.
 */
export type DemoRoute = (
  json: Readonly<Record<string, unknown>>,
  body: Buffer,
  options: AnswerOptions,
) => Record<string, unknown> | string[] | undefined;

/** An answer with a JSON body. */
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

/** Creation time in all answers, in seconds since the epoch. It is fixed, so that equal requests get equal bytes. */
export const CREATED_S = 1_735_689_600;
/** Arguments of every tool call that the demo makes. */
export const TOOL_ARGUMENTS = '{}';

/** The text that a demo model answers to a question, cut off after `maxTokens`. */
export function say(
  question: string,
  maxTokens: number | undefined,
  options: AnswerOptions,
): { text: string; isCut: boolean } {
  const whole =
    options.text ??
    `This is Tollgate's built-in demo model, with no AI behind it. You said: ${question.slice(0, 1_000)}`;
  const text = maxTokens === undefined ? whole : firstTokens(whole, maxTokens);
  return { text, isCut: text !== whole };
}

/** An id made from a hash of the request, so that equal requests get equal bytes. */
export function idOf(prefix: string, body: Buffer): string {
  return prefix + createHash('sha256').update(body).digest('hex').slice(0, 24);
}

/** Cuts a text into `parts` pieces of nearly equal length in characters; without `parts`, into words. */
export function cut(text: string, parts?: number): string[] {
  if (parts === undefined) return text.match(/\s*\S+|\s+$/g) ?? [];
  const characters = [...text];
  return Array.from({ length: parts }, (_, part) => {
    const start = Math.floor((part * characters.length) / parts);
    return characters.slice(start, Math.floor(((part + 1) * characters.length) / parts)).join('');
  });
}
