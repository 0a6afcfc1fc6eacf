import { isObject } from '../json/value.ts';
import { eventData, eventName, saysFailed } from './event.ts';

/**
 * What an event at the beginning of a stream is: a sign of life, which passes at once; one that opens the answer; its failure; or
 * content (specification section 12, Hand-over).
 */
export type EventKind = 'ping' | 'opening' | 'failure' | 'content';

/** Classifies the events of a format. Events are Latin-1 text, a byte a character. */
export type KindOfEvent = (event: string) => EventKind;

/** The formats whose streams go on at another target if they fail before their content, by the path of the endpoint. */
export const OPENINGS: Readonly<Record<string, KindOfEvent>> = {
  '/v1/chat/completions': (event) => {
    if (isComment(event)) return 'ping';
    if (saysFailed(event)) return 'failure';
    const data = eventData(event);
    const choices: unknown = data?.choices;
    if (!Array.isArray(choices)) return 'content';
    return choices.every(saysNothing) ? 'opening' : 'content';
  },
  '/v1/responses': (event) => {
    if (isComment(event)) return 'ping';
    const name = eventName(event);
    if (name === 'response.failed' || name === 'error' || saysFailed(event)) return 'failure';
    if (name === 'keepalive' || name === 'ping') return 'ping';
    return RESPONSE_OPENINGS.has(name) ? 'opening' : 'content';
  },
  '/v1/messages': (event) => {
    if (isComment(event)) return 'ping';
    const name = eventName(event);
    if (name === 'ping') return 'ping';
    if (name === 'error') return 'failure';
    return name === 'message_start' ? 'opening' : 'content';
  },
};

const RESPONSE_OPENINGS: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
]);

/** Whether a choice of a chunk only says whose turn it is. */
function saysNothing(choice: unknown): boolean {
  if (!isObject(choice) || (choice.finish_reason ?? null) !== null) return false;
  const { delta } = choice;
  return (
    !isObject(delta) || Object.entries(delta).every(([name, value]) => name === 'role' || isEmpty(value))
  );
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

/** Whether an event has comments and empty lines only, and so no effect (WHATWG HTML, "Server-sent events"). */
function isComment(event: string): boolean {
  return event.split(/\r\n|\r|\n/).every((line) => line === '' || line.startsWith(':'));
}

/** The message of an event that says that the call failed; undefined if it has none. */
export function failureMessage(event: string): string | undefined {
  const data = eventData(event);
  const response = isObject(data?.response) ? data.response : undefined;
  for (const error of [data?.error, response?.error, data]) {
    if (typeof error === 'string') return error;
    if (isObject(error) && typeof error.message === 'string') return error.message;
  }
  return undefined;
}
