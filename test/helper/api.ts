import type { InProcessGateway } from './gateway-in-process.ts';

export interface ApiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** An answer read as JSON: `body` where it is what was asked for, `error` where it is a refusal. */
export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly error: ApiError | undefined;
}

export interface Api {
  get<Body>(path: string): Promise<Answer<Body>>;
  post<Body>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<Body>>;
  patch<Body>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<Body>>;
  delete<Body>(path: string, headers?: Record<string, string>): Promise<Answer<Body>>;
}

/** The API as the holder of one token (a key value, or the operator's token) uses it. */
export function apiOf(world: Pick<InProcessGateway, 'api'>, token: string): Api {
  const call = async <Body>(
    method: string,
    path: string,
    sent?: unknown,
    more?: Record<string, string>,
  ): Promise<Answer<Body>> => {
    const response = await world.api(method, path, token, sent, more);
    const body = (await response.json()) as Body & { error?: ApiError };
    return { status: response.status, headers: response.headers, body, error: body.error };
  };
  return {
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body, headers) => call('PATCH', path, body, headers),
    delete: (path, headers) => call('DELETE', path, undefined, headers),
  };
}

/** A refusal as tests compare it. */
export function refusalOf({
  status,
  error,
}: Answer<unknown>): [number, string | undefined, string | null | undefined] {
  return [status, error?.code, error?.param];
}
