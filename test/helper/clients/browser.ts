import type { Answer, ApiError } from './api.ts';

interface Given {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A browser with the page of the gateway: it keeps the cookie, and sends what the page sends. */
export class Browser {
  readonly #url: string;
  /** Sent with every request, such as `x-forwarded-for`. */
  readonly headers: Record<string, string>;
  /** `name=value`; undefined: none. */
  cookie: string | undefined;
  /** The last `Set-Cookie`, as it was sent. */
  setCookie: string | undefined;

  constructor({ url }: { readonly url: string }, headers: Record<string, string> = {}) {
    this.#url = url;
    this.headers = headers;
  }

  /** `headers` replace those of the page; one that is empty is not sent. */
  async call<Body>(method: string, path: string, { body, headers = {} }: Given = {}): Promise<Answer<Body>> {
    const all = {
      ...(method === 'GET' ? {} : { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }),
      ...(this.cookie === undefined ? {} : { cookie: this.cookie }),
      ...this.headers,
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) {
      this.setCookie = set;
      const [pair = ''] = set.split(';');
      this.cookie = pair.endsWith('=') ? undefined : pair;
    }
    const answer = (await response.json()) as Body & { error?: ApiError };
    return { status: response.status, headers: response.headers, body: answer, error: answer.error };
  }

  get = <Body>(path: string, headers = {}) => this.call<Body>('GET', path, { headers });
  post = <Body>(path: string, body?: unknown, headers = {}) =>
    this.call<Body>('POST', path, { body, headers });
  patch = <Body>(path: string, body?: unknown, headers = {}) =>
    this.call<Body>('PATCH', path, { body, headers });
  delete = <Body>(path: string, headers = {}) => this.call<Body>('DELETE', path, { headers });

  signIn<Body>(email: string, password = PASSWORD): Promise<Answer<Body>> {
    return this.post<Body>('/api/session/', { email, password });
  }
}

export const PASSWORD = 'correct horse battery';
