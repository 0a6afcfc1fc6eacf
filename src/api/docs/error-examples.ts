import type { ErrorCode, Shortfall } from '../../domain/errors.ts';

/** A refusal as a client reads it, for the description of the API; `param` is set where a field is at fault. */
export interface ErrorExample {
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

/** An example for each code. The type requires one, so that a new code does not compile without it. */
export const ERROR_EXAMPLES: Readonly<Record<ErrorCode, ErrorExample>> = {
  missing_api_key: {
    message: 'No API key was sent. Send it in the header "Authorization: Bearer <your key>".',
  },
  invalid_api_key: { message: 'The API key is not known here. Check that it was copied whole.' },
  inactive_api_key: {
    message: 'This API key has been deactivated. Use another key, or have it reactivated.',
  },
  expired_api_key: {
    message: 'This API key expired at 2026-11-01T00:00:00.000Z. Use another key, or extend its expires_at.',
  },
  invalid_admin_token: {
    message: 'This route needs the operator token. Send it as "Authorization: Bearer <ADMIN_TOKEN>".',
  },
  inactive_account: {
    message: 'The account of this API key has been deactivated. Ask the operator of this gateway.',
  },
  outside_active_hours: {
    message: 'This API key works during 08:00-18:00 UTC only; it is 20:00 UTC now.',
  },
  ip_not_allowed: { message: 'Your IP address, 198.51.100.7, is not in the allowed_ips of this API key.' },
  country_blocked: {
    message:
      'This API key may not be used from FR, where your IP address belongs: see its blocked_countries.',
  },
  origin_not_allowed: {
    message: 'The origin "https://other.example.com" is not in the allowed_origins of this API key.',
  },
  category_not_allowed: {
    message: 'The model "demo-image" is of category image; this API key may use text.',
  },
  model_not_allowed: {
    message:
      'The model "demo-chat" is not in the allowed_models of this API key. GET /v1/models lists those it may use.',
  },
  management_not_allowed: {
    message: 'This key may not manage keys or the account. Use a key whose can_manage is true.',
  },
  invalid_json: { message: 'The body is not valid JSON.' },
  invalid_field: {
    message: 'limit must be a whole number from 1 to 1000.',
    param: 'limit',
  },
  unpriced_parameter: {
    message:
      'The model gpt-4o has no price here for web searches. Leave it out, or have the operator set price.webSearch.',
    param: 'tools',
  },
  model_required: { message: 'Name the model to call in the field "model".', param: 'model' },
  endpoint_mismatch: {
    message: 'The model demo-image is of the category image; /v1/chat/completions serves text models.',
    param: 'model',
  },
  invalid_request: { message: 'The body is not as long as its Content-Length says.' },
  body_too_large: { message: 'The body is larger than this gateway accepts.' },
  unsupported_media_type: { message: 'Send the body as Content-Type: application/json.' },
  request_timeout: { message: 'The request did not arrive in time. Send it faster.' },
  email_taken: { message: 'Another account has this e-mail address already.', param: 'email' },
  too_many_keys: {
    message:
      'The account has 10000 keys, inactive ones included, and may not have more. Change one that is not in use.',
  },
  idempotency_key_reused: {
    message:
      'This Idempotency-Key was used before with another amount or note. Use a new one for a new change.',
    param: 'Idempotency-Key',
  },
  version_conflict: {
    message:
      'The key has been changed meanwhile: it is at version 4. Read it again, and send the change with that version.',
    param: 'If-Match',
  },
  model_not_found: {
    message: 'The model "gpt-0" does not exist here. GET /v1/models lists those that do.',
    param: 'model',
  },
  key_not_found: { message: 'There is no key with this id in the account.' },
  account_not_found: { message: 'There is no account with this id.' },
  entry_not_found: { message: 'There is no entry with this id in the ledger.' },
  object_not_found: {
    message:
      'There is no "resp_123" of this account. Only what was made with this account, at the provider of the same model, ' +
      'can be named.',
    param: 'previous_response_id',
  },
  unknown_endpoint: { message: 'There is no such endpoint.' },
  upgrade_required: {
    message: 'Responses are not served over WebSocket here. Send them by POST /v1/responses.',
  },
  spending_limit_exceeded: {
    message:
      'The monthly spending limit of this key is 10.000000 credits; 9.995000 are spent, 0.000000 are held by calls in ' +
      'flight, and this call may cost 0.012338 (0.012000 of it for the answer). The period ends at ' +
      '2026-12-01T00:00:00.000Z. Lower max_tokens to 388 to stay below it.',
    metadata: { ...METADATA, balance: '812.500000' },
  },
  insufficient_credits: {
    message:
      'The account has 0.005000 credits, of which 0.000000 are held by calls in flight; this call may cost 0.012338 ' +
      '(0.012000 of it for the answer). Top up the account, or lower max_tokens to 388.',
    metadata: METADATA,
  },
  rate_limit_exceeded: {
    message: "This key's rpm_limit of 60 requests a minute is used up; try again in 1 s.",
  },
  upstream_auth_failed: {
    message: 'The model provider refused the credential of this gateway. Its operator must renew it.',
  },
  upstream_unavailable: {
    message: 'The model provider could not be reached, or broke off. Nothing was charged.',
  },
  upstream_timeout: {
    message: 'The model provider did not answer in time. What it may have billed was charged.',
  },
  service_unavailable: {
    message: 'The service cannot decide about this call at the moment. Try again shortly.',
  },
  internal_error: { message: 'Something went wrong inside the gateway. It has been logged.' },
};
