import { session, setManaging, signOut } from '../session/session.ts';
import { leave } from '../ui/leave-guard.ts';
import { ApiFailure } from './api-failure.ts';
import { credentialHeaders } from './credentials.ts';

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Token to send; default: that of the session. */
  readonly token?: string;
}

/** Asks the gateway's public API and reads the answer as JSON. Rejects with an ApiFailure. */
export async function ask<Body>(method: string, path: string, options: RequestOptions = {}): Promise<Body> {
  const response = await askRaw(method, path, options);
  try {
    return (await response.json()) as Body;
  } catch (error) {
    throw unreadable(error, response.status);
  }
}

/** Asks the gateway's public API and resolves with the response, its body unread. Rejects with an ApiFailure. */
export async function askRaw(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
  const current = session.value;
  const token = options.token ?? current?.token;
  const response = await send(method, path, token, options);
  if (response.ok) return response;
  const failure = await failureOf(response);
  // A request that this page itself aborted is no failure of the gateway.
  options.signal?.throwIfAborted();
  // The key was deactivated, its value replaced, or the person's session ended, meanwhile. Every further request would be
  // refused too, so the first refusal ends the session.
  const isOfSession = options.token === undefined && current !== undefined;
  if (response.status === 401 && isOfSession && session.value?.token === token) {
    leave(() => signOut(`You have been signed out. ${failure.message}`), failure.message);
  }
  // Only for reads: after a refused change, the user's input stays on the page, below the reason.
  if (failure.code === 'management_not_allowed' && method === 'GET' && options.token === undefined) {
    setManaging(false);
  }
  throw failure;
}

/** Code of a change without an answer, where it is unknown whether it was made. */
export const ANSWER_LOST = 'answer_lost';

/**
 * Resolves with the answer to a request that creates `what`. Rejects with `answer_lost` where the outcome is unknown.
 */
export function made<Body>(what: string, answer: Promise<Body>): Promise<Body> {
  return certain(
    answer,
    `The gateway did not confirm whether the ${what} was created. Look for it before you create it again.`,
  );
}

/**
 * Resolves with the answer to a change. Rejects with `answer_lost`, and `words`, where the outcome is unknown. Refusals
 * with the code `telling` are left as they are, because they say what became of the change.
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

async function send(
  method: string,
  path: string,
  token: string | undefined,
  { body, headers, signal = method === 'GET' ? undefined : endsIn(LONGEST_CHANGE_MS) }: RequestOptions,
): Promise<Response> {
  try {
    return await fetch(gatewayUrl(path), {
      method,
      cache: 'no-store',
      // Cookies are a person's session; a token goes alone.
      credentials: token === undefined ? 'same-origin' : 'omit',
      headers: {
        ...credentialHeaders({ token, accountId: session.value?.accountId }, method, body !== undefined),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
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

/** Address of a path of the gateway, which serves this page at `dashboard/`, maybe below a path of its host. */
export function gatewayUrl(path: string): string {
  // The address of a folder ends with a slash, with which the path begins.
  return `${new URL('..', location.href).href.slice(0, -1)}${path}`;
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
