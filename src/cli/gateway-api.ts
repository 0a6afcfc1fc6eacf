import { Failure, Refused, type RemoteOptions, secret, urlOf } from './arguments.ts';
import { io } from './io.ts';

/** Request timeout; longer than any answer takes, even if the book is unreachable. */
const ANSWER_WITHIN_MS = 30_000;

interface ErrorBody {
  readonly error?: { readonly message?: unknown; readonly code?: unknown };
}

/** Client of a running gateway with one token. Throws refusals as Failures with the gateway's message. */
export class GatewayApi {
  readonly #url: string;
  readonly #token: string;

  constructor(options: RemoteOptions, token: string) {
    this.#url = urlOf(options);
    this.#token = token;
  }

  async call<Answer>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).catch((cause: unknown) => {
      throw new Failure(`No gateway is running at ${this.#url}. Start it, or set its address with --url.`, {
        cause,
      });
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok && typeof answer === 'object' && answer !== null) return answer as Answer;
    const refusal = this.#refusal(response.status, answer);
    throw response.status < 500 ? new Refused(refusal) : new Failure(refusal);
  }

  #refusal(status: number, answer: unknown): string {
    const { message, code } = (answer as ErrorBody | undefined)?.error ?? {};
    if (code === 'unknown_endpoint')
      return `The gateway at ${this.#url} does not have this route. Operator commands require ADMIN_TOKEN to be set for the gateway.`;
    if (typeof message === 'string') return `${message} (${String(code)})`;
    return `The server at ${this.#url} is not a gateway (status ${status}). Set the gateway's address with --url.`;
  }
}

/** Path of the operator's routes about accounts. */
export const ACCOUNTS = '/api/admin/accounts/';

/** Client with the operator's token. Throws Failure if the token is missing. */
export function operatorApi(options: RemoteOptions): GatewayApi {
  const missing =
    "The operator token is missing. Set ADMIN_TOKEN to the gateway's token, or use --admin-token -.";
  return new GatewayApi(options, secret(options.adminToken ?? io().env.ADMIN_TOKEN, missing));
}
