import { gatewayUrl } from '../base.ts';
import { ApiFailure } from './api-failure.ts';

export interface RequestOptions {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Account that a person's request is about; not needed for keys and operators. */
  readonly account?: number | undefined;
  /** A new key, with which the request is made instead of the session. */
  readonly bearer?: string | undefined;
}

/** Requests a path of the gateway's API and reads the answer as JSON. Rejects with an ApiFailure. */
export async function ask<Body>(path: string, options: RequestOptions = {}): Promise<Body> {
  const response = await askRaw(path, options);
  if (response.status === 204) return undefined as Body;
  try {
    return (await response.json()) as Body;
  } catch (error) {
    throw unreadable(error, response.status);
  }
}

/** Requests a path and resolves with the response, its body unread. Rejects with an ApiFailure. */
export async function askRaw(path: string, options: RequestOptions = {}): Promise<Response> {
  const response = await send(path, options);
  if (response.ok) return response;
  const failure = await failureOf(response);
  // A request that this page itself aborted is no failure of the gateway.
  options.signal?.throwIfAborted();
  const isOfSession = response.status === 401 && options.bearer === undefined;
  if (isOfSession && failure.code !== 'invalid_credentials') onEnd(failure.message);
  throw failure;
}

let onEnd: (reason: string) => void = () => {};

/** Sets what happens when the gateway answers that the session is over. */
export function whenSessionEnds(act: (reason: string) => void): void {
  onEnd = act;
}

/** Code of a change without an answer: it is unknown whether it was made. */
export const ANSWER_LOST = 'answer_lost';

/** Resolves with the answer to a request that creates `what`. Rejects with `answer_lost` if the outcome is unknown. */
export function made<Body>(what: string, answer: Promise<Body>): Promise<Body> {
  return certain(
    answer,
    `The gateway did not confirm whether the ${what} was created. Look for it before you create it again.`,
  );
}

/**
 * Resolves with the answer to a change. Rejects with `answer_lost`, and `words`, if the outcome is unknown. Refusals
 * with the code `telling` pass, because they say what became of the change.
 */
export async function certain<Body>(answer: Promise<Body>, words: string, telling = ''): Promise<Body> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    const { status, code } = error;
    if (status !== 0 && status < 500 && code !== 'unreadable') throw error;
    if (code === telling) throw error;
    throw new ApiFailure(status, ANSWER_LOST, words);
  }
}

/** Time limit of a change. Reads have none, because an answer may be long. */
const LONGEST_CHANGE_MS = 60_000;

async function send(path: string, options: RequestOptions): Promise<Response> {
  const { method = 'GET', body, headers, account, bearer } = options;
  const signal = options.signal ?? (method === 'GET' ? undefined : endsIn(LONGEST_CHANGE_MS));
  try {
    return await fetch(gatewayUrl(path), {
      method,
      cache: 'no-store',
      credentials: bearer === undefined ? 'same-origin' : 'omit',
      headers: {
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
        ...(account !== undefined && { 'tollgate-account': String(account) }),
        // Changes need it without a body too, so that no other site's form can make one.
        ...(method !== 'GET' && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted && signal.reason !== TOO_LONG) throw error;
    throw new ApiFailure(
      0,
      'unreachable',
      "The gateway can't be reached. Check your connection and try again.",
    );
  }
}

const TOO_LONG = 'too long';

function endsIn(ms: number): AbortSignal {
  const end = new AbortController();
  setTimeout(() => end.abort(TOO_LONG), ms);
  return end.signal;
}

async function failureOf(response: Response): Promise<ApiFailure> {
  try {
    const { error } = (await response.json()) as {
      error: { message: string; code: string; param: string | null };
    };
    const isOfProvider = response.headers.get('x-tollgate-source') === 'provider';
    return new ApiFailure(response.status, error.code, error.message, error.param, isOfProvider);
  } catch (error) {
    return unreadable(error, response.status);
  }
}

/** Failure for an answer that was cut off, or that came from a proxy between page and gateway. */
function unreadable(error: unknown, status: number): ApiFailure {
  const reason = error instanceof SyntaxError ? 'did not come from the gateway' : 'was cut off';
  return new ApiFailure(status, 'unreadable', `The response (${status}) ${reason}. Try again shortly.`);
}
