import { type IncomingMessage, request } from 'node:http';

/** When a client leaves: `afterMs` after its start, or after the head of the answer. */
export type Leaving = { readonly afterMs: number; readonly of: 'start' | 'head' };

export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly token: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly leaving?: Leaving | undefined;
}

/** Outcome of a request, as its client sees it. */
export interface Answered {
  /** Status of the answer; undefined if no head came. */
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly charge: string | undefined;
  /** True if the answer is a provider's error, not the gateway's own. */
  readonly isProviders: boolean;
  /** True if the whole answer came. */
  readonly isWhole: boolean;
  readonly text: string;
  readonly endedAt: number;
  /** Time just before the client left; undefined if it stayed. */
  readonly leftAt: number | undefined;
}

/** Maximum time for an answer of a gateway. A longer one counts as a hang. */
const PATIENCE_MS = 60_000;

export class Hang extends Error {}

/** Sends one request on its own connection. Rejects only with Hang. */
export function ask({ method, url, token, body, headers = {}, leaving }: Asked): Promise<Answered> {
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  const text = body === undefined ? '' : JSON.stringify(body);
  let response: IncomingMessage | undefined;
  let came = '';
  const outgoing = request(url, {
    method,
    agent: false,
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      ...(text ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) } : {}),
    },
  });
  let departure: NodeJS.Timeout | undefined;
  let leftAt: number | undefined;
  const leave = (of: Leaving['of']) => {
    if (leaving?.of !== of) return;
    departure = setTimeout(() => {
      leftAt = Date.now();
      outgoing.destroy();
    }, leaving.afterMs);
  };
  const patience = setTimeout(() => {
    reject(new Hang(`${method} ${url} hangs`));
    outgoing.destroy();
  }, PATIENCE_MS);
  const done = (isWhole: boolean) => {
    clearTimeout(patience);
    clearTimeout(departure);
    const header = (name: string) => response?.headers[name] as string | undefined;
    resolve({
      status: response?.statusCode,
      requestId: header('x-request-id'),
      charge: header('x-tollgate-charge'),
      isProviders: header('x-tollgate-source') === 'provider',
      isWhole,
      text: came,
      endedAt: Date.now(),
      leftAt,
    });
  };
  outgoing.on('error', () => done(false));
  outgoing.on('response', (message) => {
    response = message;
    leave('head');
    message.setEncoding('utf8').on('data', (piece) => {
      came += piece;
    });
    message.on('error', () => done(false));
    message.on('close', () => done(message.complete));
  });
  outgoing.on('close', () => {
    if (!response) done(false);
  });
  leave('start');
  outgoing.end(text);
  return promise;
}
