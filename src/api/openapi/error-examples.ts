import type { ErrorCode, Shortfall } from '../../domain/errors.ts';

/** A refusal as the client gets it, for the API document; `param` names the field at fault, if any. */
interface ErrorExample {
  readonly message: string;
  readonly param?: string;
  readonly metadata?: Shortfall;
}

/** A question of 50 tokens to a model whose answers cost 12 credits a million tokens. */
const METADATA: Shortfall = {
  balance: '0.005000',
  held: '0.000000',
  hold: '0.012338',
  estimate: '0.012113',
  affordable_max_tokens: 388,
};

/** The example of a code. */
export function exampleOf(code: ErrorCode): ErrorExample {
  const example = EXAMPLES[code];
  return typeof example === 'string' ? { message: example } : example;
}

/** An example for each code, or only its message. A new code doesn't compile without one. */
const EXAMPLES: Readonly<Record<ErrorCode, string | ErrorExample>> = {
  missing_api_key: 'The request has no API key. Send it in the header "Authorization: Bearer <your key>".',
  invalid_api_key: 'This API key does not exist. Check that you copied all of it.',
  inactive_api_key: 'This API key is deactivated. Reactivate it or use another key.',
  expired_api_key:
    'This API key expired at 2026-11-01T00:00:00.000Z. Extend its expires_at or use another key.',
  invalid_admin_token:
    'This route requires the operator token. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  inactive_account: 'The account of this API key is deactivated. Contact the operator of this gateway.',
  outside_active_hours: 'This API key can only be used during 08:00-18:00 UTC. It is now 20:00 UTC.',
  ip_not_allowed: 'Your IP address 198.51.100.7 is not in the allowed_ips of this API key.',
  country_blocked: 'Your IP address is in FR, which the blocked_countries of this API key include.',
  origin_not_allowed: 'The origin "https://other.example.com" is not in the allowed_origins of this API key.',
  category_not_allowed:
    'The model "demo-image" has the category image, but this API key is restricted to text.',
  model_not_allowed:
    'The model "demo-chat" is not in the allowed_models of this API key. List the models it can use with GET /v1/models.',
  management_not_allowed:
    "This key can't manage keys or the account. Use a key that has can_manage set to true.",
  invalid_json:
    "The request body is not valid JSON: Expected ',' or '}' after property value in JSON at position 14 (line 1 column 15).",
  invalid_field: {
    message: 'limit must be a whole number from 1 to 1000.',
    param: 'limit',
  },
  unpriced_parameter: {
    message:
      'The model gpt-4o has no price for web searches. Leave it out, or ask the operator to set price.webSearch.',
    param: 'tools',
  },
  model_required: {
    message: 'model is required. Set it to the name of a model from GET /v1/models.',
    param: 'model',
  },
  endpoint_mismatch: {
    message: 'The model demo-image has the category image, but /v1/chat/completions serves text models.',
    param: 'model',
  },
  invalid_request: 'The length of the request body differs from its Content-Length.',
  body_too_large: 'The request body is larger than this gateway accepts.',
  unsupported_media_type: 'Send the request body with Content-Type: application/json.',
  request_timeout: 'The request took too long to arrive. Send it again.',
  email_taken: { message: 'Another account already has this email address.', param: 'email' },
  too_many_keys:
    'The account has the maximum of 10000 keys, including inactive ones. Reuse one that you no longer need.',
  idempotency_key_reused: {
    message:
      'This Idempotency-Key was already used with another amount or note. Use a new one for a new change.',
    param: 'Idempotency-Key',
  },
  version_conflict: {
    message:
      'The key has changed: its version is now 4. Read it again and send your change with that version.',
    param: 'If-Match',
  },
  model_not_found: {
    message: 'The model "gpt-0" does not exist. List the available models with GET /v1/models.',
    param: 'model',
  },
  key_not_found: 'The account has no key with this id.',
  account_not_found: 'No account has this id.',
  entry_not_found: 'The ledger has no entry with this id.',
  call_not_found: 'There is no call with this id, or it is no longer recorded.',
  object_not_found: {
    message:
      'This account has no "resp_123". You can only refer to objects that this account created ' +
      'at the provider of this model.',
    param: 'previous_response_id',
  },
  unknown_endpoint: 'This endpoint does not exist.',
  upgrade_required:
    'WebSocket is not supported. Use POST /v1/responses, with "stream": true for server-sent events.',
  spending_limit_exceeded: {
    message:
      'The monthly spending limit of this key is 0.5 credits; 0.495 are spent, 0 are held by calls in ' +
      'flight, and this call could cost 0.012338 (0.012 of it for the answer). The period ends at ' +
      '2026-12-01T00:00:00.000Z. Lower max_tokens to 388 to stay below it.',
    metadata: { ...METADATA, balance: '812.500000' },
  },
  insufficient_credits: {
    message:
      'The account has 0.005 credits, of which 0 are held by calls in flight; this call could cost 0.012338 ' +
      '(0.012 of it for the answer). Top up the account, or lower max_tokens to 388.',
    metadata: METADATA,
  },
  rate_limit_exceeded: "This key's rpm_limit of 60 requests a minute has been reached; try again in 1 s.",
  usage_limit_reached: {
    message:
      'The monthly spending limit of this key is 0.5 credits; 0.5 are spent, 0 are held by calls in flight, and this call ' +
      'could cost 0.012338 (0.012 of it for the answer). The period ends at 2026-12-01T00:00:00.000Z.',
    metadata: { ...METADATA, balance: '812.500000', affordable_max_tokens: null },
  },
  upstream_auth_failed:
    'The model provider rejected the credential of this gateway. The operator must replace it.',
  upstream_unavailable:
    'The model provider could not be reached or closed the connection. You were not charged.',
  upstream_timeout:
    'The model provider did not respond in time. You were charged an estimate of what it may have billed.',
  service_unavailable: "The gateway can't process this call right now. Try again shortly.",
  internal_error: 'The gateway had an internal error, which was logged. Give its operator the x-request-id.',
};
