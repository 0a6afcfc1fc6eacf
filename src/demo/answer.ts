import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { firstTokens, isObject } from './read-request.ts';
import { sampleOf } from './sample.ts';

export type Piece = string | Buffer;

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Pieces of the body, written separately in this order. */
  readonly pieces: readonly Piece[];
}

/** Settings of an answer that override the request. */
export interface AnswerOptions {
  /** Replaces the built-in text of a text answer or transcript. */
  readonly text?: string;
  /** Content chunks of a streamed text answer. Default: one per word. */
  readonly chunks?: number;
  /** Usage to report verbatim; false for none, even if requested. */
  readonly usage?: false | Readonly<Record<string, unknown>>;
  /** Time of creation that the answer states, in seconds since the epoch. Default: now. */
  readonly createdS?: number;
}

/**
 * Handler of one path. Sends an object as JSON, a list as stream events, and undefined as a 400. With `createdS`, the
 * response depends only on request and options, byte for byte.
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

/** Stream event of OpenAI's Responses or Anthropic's Messages, named by its data's `type`. */
export function namedEvent(data: Readonly<Record<string, unknown>> & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Server-sent events, each named by its `type`, like OpenAI's audio, image and transcript streams. */
export function typedEvents(
  events: readonly (Readonly<Record<string, unknown>> & { readonly type: string })[],
): Answer {
  return streamOf(events.map(namedEvent));
}

export function streamOf(pieces: readonly string[]): Answer {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  return { status: 200, headers, pieces };
}

/** Time of creation that an answer states, in seconds since the epoch. */
export function createdAt({ createdS }: AnswerOptions): number {
  return createdS ?? Math.floor(Date.now() / 1_000);
}

/** A tool that the request demands to be called. */
export interface DemandedTool {
  readonly name: string;
  /** Arguments of the call, with what the tool's schema requires. */
  readonly input: object;
}

/** The tool among `tools` that `name` demands; `schemas` are those of their arguments. */
export function demanded(
  tools: readonly { readonly name: unknown; readonly schema: unknown }[],
  name: unknown,
): DemandedTool | undefined {
  const tool = tools.find((one) => one.name === name);
  if (!tool || typeof tool.name !== 'string') return undefined;
  const input = sampleOf({ type: 'object', ...(tool.schema as object) });
  return { name: tool.name, input: typeof input === 'object' && input !== null ? input : {} };
}

/** A demo model's answer to a question, as JSON if `format` asks for it, cut off after `maxTokens`. */
export function say(
  question: string,
  maxTokens: number | undefined,
  options: AnswerOptions,
  format?: unknown,
): { text: string; isCut: boolean } {
  const prose = `This is Tollgate's built-in demo model, with no AI behind it. You said: ${question.slice(0, 1_000)}`;
  const whole = options.text ?? asAsked(prose, format);
  const text = maxTokens === undefined ? whole : firstTokens(whole, maxTokens);
  return { text, isCut: text !== whole };
}

/** The text in a format that a vendor has for it: `json_object`, or `json_schema` with a schema here or one level below. */
function asAsked(text: string, format: unknown): string {
  if (!isObject(format)) return text;
  if (format.type === 'json_object') return JSON.stringify({ answer: text });
  if (format.type !== 'json_schema') return text;
  const { schema } = isObject(format.json_schema) ? format.json_schema : format;
  return JSON.stringify(sampleOf(schema, text));
}

/** Id from a hash of the request, so that equal requests get equal bytes. */
export function idOf(prefix: string, body: Buffer): string {
  return prefix + createHash('sha256').update(body).digest('hex').slice(0, 24);
}

/** Cuts a text into `parts` pieces of nearly equal length in characters; without `parts`, into words. */
export function cut(text: string, parts?: number): string[] {
  if (parts === undefined) return text === '' ? [] : text.split(/(?<=\S)(?=\s)/);
  const characters = [...text];
  return Array.from({ length: parts }, (_, part) => {
    const start = Math.floor((part * characters.length) / parts);
    return characters.slice(start, Math.floor(((part + 1) * characters.length) / parts)).join('');
  });
}
