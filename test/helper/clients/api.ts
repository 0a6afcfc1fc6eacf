import type { InProcessGateway } from '../start/gateway-in-process.ts';

export interface ApiError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/** A JSON answer: a success has a `body`, a refusal an `error`. */
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

/** Client of the API with one token, a key's value or the operator's. */
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

/** The parts of a refusal that tests compare. */
export function refusalOf({
  status,
  error,
}: Answer<unknown>): [number, string | undefined, string | null | undefined] {
  return [status, error?.code, error?.param];
}
