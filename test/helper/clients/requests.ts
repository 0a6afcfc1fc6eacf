/** The operator's token at every gateway that a test starts. */
export const ADMIN_TOKEN = 'operator-token-for-the-tests';

/** Requests to one gateway. */
export interface Requests {
  /** A body that is a string is sent as it is, another one as JSON. */
  api(
    method: string,
    path: string,
    token: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Sends `POST /v1/chat/completions` with the model `flat` (1 credit a request), unless the body names another. */
  chat(key: string, body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
}

export function requestsTo(url: string): Requests {
  const api: Requests['api'] = (method, path, token, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  return {
    api,
    chat: (key, body = {}, headers) =>
      api(
        'POST',
        '/v1/chat/completions',
        key,
        { model: 'flat', messages: [{ role: 'user', content: 'Hello' }], ...body },
        headers,
      ),
  };
}
