import type { FastifyRequest } from 'fastify';
import { CLIENT_QUIRKS } from '../domain/clients.ts';
import { type ErrorCode, GatewayError } from '../domain/errors.ts';
import { routeOf } from './spellings.ts';

/** Routes that Codex calls. */
export const CODEX_ROUTES: ReadonlySet<string> = new Set(['/v1/responses', '/v1/responses/compact']);

/**
 * Answers to Codex in place of refusals that it repeats, or shows without their words. It was run behind this gateway (Codex CLI
 * 0.169, 23 November 2026):
 *
 *  401, 402, 403                       sent six times, 7 to 8 s
 *  400, 404 model_not_found            sent once; 404 shows the bare words, 400 the JSON
 *  429 of type usage_limit_reached     sent once; the words are those of `x-codex-promo-message`, in "You've hit your usage
 *                                      limit. <words>, or try again at <resets_at>."
 *  … with x-codex-rate-limit-reached-type: workspace_owner_credits_depleted
 *                                      "Your workspace is out of credits. Add credits to continue."
 */
const ANSWERS: Readonly<Partial<Record<ErrorCode, (refusal: GatewayError) => GatewayError>>> = {
  spending_limit_exceeded: usageLimit,
  insufficient_credits: usageLimit,
  model_not_allowed: ({ message }) => new GatewayError('model_not_found', message, 'model'),
};
/** Other refusal statuses that Codex retries. */
const REPEATED: ReadonlySet<number> = new Set([401, 403]);

/** The refusal that the client gets. Codex gets a different one than logs, metrics and call records. */
export function answeredRefusal(refusal: GatewayError, request: FastifyRequest): GatewayError {
  const { header, begins } = CLIENT_QUIRKS.codex;
  const named = request.headers[header];
  const isCodex = typeof named === 'string' && begins.test(named);
  if (!isCodex || !CODEX_ROUTES.has(routeOf(request))) return refusal;
  const answer = ANSWERS[refusal.code];
  if (answer) return answer(refusal);
  return REPEATED.has(refusal.statusCode) ? new GatewayError('invalid_request', refusal.message) : refusal;
}

const REACHED_TYPE = 'x-codex-rate-limit-reached-type';

/** The 429 for a spent limit, an account without credits, or a hold that is too large. */
function usageLimit({ message, metadata, lack }: GatewayError): GatewayError {
  const headers = {
    'x-codex-promo-message': headerText(message),
    ...(lack?.what === 'credits' ? { [REACHED_TYPE]: 'workspace_owner_credits_depleted' } : {}),
  };
  const resets = lack?.what === 'limit' ? { resetsAtS: lack.resetsAtS } : {};
  return new GatewayError('usage_limit_reached', message, null, undefined, {
    headers,
    ...(metadata && { metadata }),
    ...resets,
  });
}

/** A message as a header value, without its full stop: Codex continues the sentence. */
function headerText(message: string): string {
  return message.replace(/\.$/, '').replace(/[^\x20-\x7e]/g, '?');
}
