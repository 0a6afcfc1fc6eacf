import type { World } from './world.ts';

/** A JSON value whose members a test reads by name; reading past the end of one throws. */
export interface Json {
  readonly [name: string]: Json & string & number & boolean & null & Json[];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface Api {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body?: unknown): Promise<Answer>;
  delete(path: string): Promise<Answer>;
}

/** The API as the holder of one token (a key value or the operator's token) uses it. */
export function apiOf(world: Pick<World, 'api'>, token: string): Api {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer> => {
    const response = await world.api(method, path, token, body, headers);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Json };
  };
  return {
    get: (path, headers) => call('GET', path, undefined, headers),
    post: (path, body, headers) => call('POST', path, body, headers),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path) => call('DELETE', path),
  };
}
