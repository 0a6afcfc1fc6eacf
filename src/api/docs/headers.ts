/** Headers of answers, under `#/components/headers`. */
export const HEADERS = {
  'x-request-id': {
    description: 'Names this request: in the ledger, in the log of the gateway, and for its operator.',
    required: true,
    schema: { type: 'string' },
    example: 'req_3Jk0vX2bQm8tLw5Z2r',
  },
  'request-id': {
    description: "The same as `x-request-id`, where Anthropic's clients look for it.",
    required: true,
    schema: { type: 'string' },
    example: 'req_3Jk0vX2bQm8tLw5Z2r',
  },
  'x-should-retry': {
    description:
      "The gateway would refuse the same request again; official clients obey it. A provider's own error has what the " +
      'provider says.',
    schema: { type: 'string', const: 'false' },
    example: 'false',
  },
  'x-tollgate-charge': {
    description:
      'What the call cost, in credits with six decimals. Streams, and answers over 1 MiB, do not carry it: they are ' +
      'charged after their head has gone out. The ledger has every charge.',
    schema: { type: 'string', pattern: '^\\d+\\.\\d{6}$' },
    example: '0.010042',
  },
  'WWW-Authenticate': {
    description: 'The scheme by which keys are sent.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
    example: 'Bearer',
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
} as const;

/** Header of answers to model calls. */
export const CHARGE_HEADER = {
  'x-tollgate-charge': { $ref: '#/components/headers/x-tollgate-charge' },
} as const;
