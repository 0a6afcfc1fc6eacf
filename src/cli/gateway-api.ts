import { secretVariable } from '../config/secrets.ts';
import { Faults } from '../domain/shape.ts';
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
  readonly #answerWithinMs: number;

  constructor(options: RemoteOptions, token: string, answerWithinMs = ANSWER_WITHIN_MS) {
    this.#url = urlOf(options);
    this.#token = token;
    this.#answerWithinMs = answerWithinMs;
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
      signal: AbortSignal.timeout(this.#answerWithinMs),
    }).catch((cause: Error) => {
      throw new Failure(this.#unanswered(cause), { cause });
    });
    const answer: unknown = await response.json().catch(() => undefined);
    if (response.ok && typeof answer === 'object' && answer !== null) return answer as Answer;
    const refusal = this.#refusal(response.status, answer);
    throw response.status < 500 ? new Refused(refusal) : new Failure(refusal);
  }

  #unanswered({ name, cause }: Error): string {
    if (name === 'TimeoutError')
      return `The gateway at ${this.#url} did not answer within ${this.#answerWithinMs / 1_000} s. Try again, or see its log.`;
    const why = cause instanceof Error ? `: ${cause.message}` : '';
    return `No gateway answers at ${this.#url}${why}. Start it, or set its address with --url.`;
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
export function operatorApi(options: RemoteOptions, answerWithinMs?: number): GatewayApi {
  const missing =
    "The operator token is missing. Set ADMIN_TOKEN to the gateway's token, or use --admin-token -.";
  return new GatewayApi(options, secret(givenToken(options), missing), answerWithinMs);
}

/** The operator's token: of the option, ADMIN_TOKEN or the file that ADMIN_TOKEN_FILE names. Throws Failure. */
export function givenToken({ adminToken }: RemoteOptions): string | undefined {
  if (adminToken !== undefined) return adminToken;
  const faults = new Faults();
  const { value } = secretVariable(io().env, 'ADMIN_TOKEN', faults);
  if (faults.lines.length > 0) throw new Failure(faults.lines.join('; '));
  return value;
}
