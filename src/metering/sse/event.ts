import { closingQuote } from '../json-lexer.ts';

const DONE = /^data: ?\[DONE\]/m;
const NAMED_ERROR = /(?:^|[\r\n])event: ?error[\r\n]/;

/** Name of an SSE event (Latin-1 text): its `event:` line unless that is `message`, else the `type` in its data. */
export function eventName(event: string): string {
  const named = /(?:^|[\r\n])event: ?([^\r\n]*)/.exec(event)?.[1];
  if (named && named !== 'message') return named;
  const type = eventData(event)?.type;
  return typeof type === 'string' ? type : '';
}

/** The JSON object in an SSE event (Latin-1 text); undefined where there is none. */
export function eventData(event: string): Record<string, unknown> | undefined {
  const data = Buffer.from(event, 'latin1')
    .toString('utf8')
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the member at index `at` is one of the outermost object, in an event with one line of data. */
export function isOutermost(event: string, at: number): boolean {
  let depth = 0;
  for (let index = event.indexOf('{'); index >= 0 && index < at; index++) {
    const code = event.charCodeAt(index);
    if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x22) {
      index = closingQuote(event, index + 1);
      if (index < 0) return false;
    }
  }
  return depth === 1;
}

/** OpenAI's format ends most streams with `data: [DONE]`. */
export function saysDone(event: string): boolean {
  return event.includes('[DONE]') && DONE.test(event);
}

/**
 * Whether an event of OpenAI's format says that the call failed: one that is named `error`, or whose data has an
 * `error`, alone or beside a last chunk. Quotes in the output text are escaped, so that no text is taken for an error.
 */
export function saysFailed(event: string): boolean {
  if (!event.includes('error')) return false;
  if (NAMED_ERROR.test(event)) return true;
  if (!event.includes('"error"')) return false;
  const data = eventData(event);
  return data?.type === 'error' || Boolean(data?.error);
}
