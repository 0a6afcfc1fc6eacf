import type { Answer } from './send-answer.ts';

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

/** A stream of server-sent events, each named by its `type`, as OpenAI's streams of sound, pictures and transcripts are. */
export function typedEvents(events: readonly Readonly<Record<string, unknown>>[]): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' },
    pieces: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  };
}
