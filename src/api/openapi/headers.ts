import type { WireFormat } from '../../domain/catalog.ts';
import { limitHeaderNames } from '../../gateway/limits.ts';

const LIMITS = 'Only for keys and accounts with such a limit; the one with least left counts.';

const HEADERS_OF_LIMITS = Object.fromEntries(
  (['openai', 'anthropic'] as const).flatMap((format) =>
    (['requests', 'tokens'] as const).flatMap((unit) => {
      const [limit, remaining, reset] = limitHeaderNames(format, unit);
      return [
        [
          limit,
          { description: `Most ${unit} in a minute. ${LIMITS}`, schema: { type: 'integer' }, example: 60 },
        ],
        [
          remaining,
          {
            description: `The rest, after this call. ${LIMITS}`,
            schema: { type: 'integer' },
            example: 59,
          },
        ],
        [
          reset,
          {
            description: `Time until the limit is full again. ${LIMITS}`,
            schema: { type: 'string' },
            example: format === 'anthropic' ? '2026-11-21T08:00:01Z' : '1s',
          },
        ],
      ];
    }),
  ),
);

/** Call limit headers of model calls, under the names that the vendor's clients read. */
export function limitHeaders(format: WireFormat): Record<string, { readonly $ref: string }> {
  const names = (['requests', 'tokens'] as const).flatMap((unit) => limitHeaderNames(format, unit));
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Headers of answers, under `#/components/headers`. */
export const HEADERS = {
  ...HEADERS_OF_LIMITS,
  'x-request-id': {
    description: "Id of this request in the ledger, in the gateway's log, and for its operator.",
    required: true,
    schema: { type: 'string' },
    example: 'req_3Jk0vX2bQm8tLw5Z2r',
  },
  'request-id': {
    description: "`x-request-id`, under the name that Anthropic's clients read.",
    required: true,
    schema: { type: 'string' },
    example: 'req_3Jk0vX2bQm8tLw5Z2r',
  },
  'x-tollgate-source': {
    description: 'Author of the error: the gateway, even if a provider is the cause, or a provider.',
    required: true,
    schema: { type: 'string', enum: ['gateway', 'provider'] },
    example: 'gateway',
  },
  'x-should-retry': {
    description:
      'A retry would be refused again, would need a new credential of the gateway (`upstream_auth_failed`), or would be charged ' +
      "again after a timeout. Official clients obey it. A provider's own error does not have it.",
    schema: { type: 'string', const: 'false' },
    example: 'false',
  },
  'x-codex-promo-message': {
    description: 'Message of a `usage_limit_reached`, as Codex shows it.',
    schema: { type: 'string' },
    example: 'The account has 0 credits; top up the account',
  },
  'x-codex-rate-limit-reached-type': {
    description: 'With `usage_limit_reached`: the account has no credits.',
    schema: { type: 'string', const: 'workspace_owner_credits_depleted' },
    example: 'workspace_owner_credits_depleted',
  },
  'x-tollgate-charge': {
    description:
      'Cost of the call in credits, with six decimals. Streams and answers over 1 MiB do not have it, because they are ' +
      'charged after their headers went out. The ledger has every charge.',
    schema: { type: 'string', pattern: '^\\d+\\.\\d{6}$' },
    example: '0.010042',
  },
  'WWW-Authenticate': {
    description: 'Authentication scheme.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  'Retry-After': {
    description:
      'Seconds to wait before a retry. Every 503 of the gateway has it, and every 429 except `usage_limit_reached`; a 429 of a provider may not.',
    schema: { type: 'integer', minimum: 1 },
    example: 3,
  },
  'retry-after-ms': {
    description: 'Milliseconds after which the call passes its limit, if no other comes first.',
    schema: { type: 'integer', minimum: 1 },
    example: 740,
  },
} as const;

/** Header of answers to model calls. */
export const CHARGE_HEADER = {
  'x-tollgate-charge': { $ref: '#/components/headers/x-tollgate-charge' },
} as const;
