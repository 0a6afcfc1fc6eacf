import type { CallerFact } from './caller-facts.ts';
import type { LimitPeriod } from './limit-periods.ts';
import type { SpendingOwner } from './spending-limits.ts';

/**
 * Every error code that a client can get (specification sections 2, 3, 4, 7): HTTP status, type, and whether the same
 * request may succeed later (`repeat`) or never will (`final`: `x-should-retry: false`). docs/api.md lists them.
 */
export const ERRORS = {
  missing_api_key: [401, 'authentication_error', 'final'],
  invalid_api_key: [401, 'authentication_error', 'final'],
  inactive_api_key: [401, 'authentication_error', 'final'],
  expired_api_key: [401, 'authentication_error', 'final'],
  invalid_admin_token: [401, 'authentication_error', 'final'],
  inactive_account: [403, 'permission_error', 'final'],
  not_signed_in: [401, 'authentication_error', 'final'],
  invalid_credentials: [401, 'authentication_error', 'final'],
  outside_active_hours: [403, 'permission_error', 'final'],
  ip_not_allowed: [403, 'permission_error', 'final'],
  country_blocked: [403, 'permission_error', 'final'],
  origin_not_allowed: [403, 'permission_error', 'final'],
  category_not_allowed: [403, 'permission_error', 'final'],
  model_not_allowed: [403, 'permission_error', 'final'],
  management_not_allowed: [403, 'permission_error', 'final'],
  not_permitted: [403, 'permission_error', 'final'],
  cross_site: [403, 'permission_error', 'final'],
  sign_in_again: [403, 'permission_error', 'final'],
  use_provider: [403, 'permission_error', 'final'],
  invitation_email: [403, 'permission_error', 'final'],
  account_required: [400, 'invalid_request_error', 'final'],
  invalid_json: [400, 'invalid_request_error', 'final'],
  invalid_field: [400, 'invalid_request_error', 'final'],
  unpriced_parameter: [400, 'invalid_request_error', 'final'],
  model_required: [400, 'invalid_request_error', 'final'],
  endpoint_mismatch: [400, 'invalid_request_error', 'final'],
  invalid_request: [400, 'invalid_request_error', 'final'],
  body_too_large: [413, 'invalid_request_error', 'final'],
  unsupported_media_type: [415, 'invalid_request_error', 'final'],
  request_timeout: [408, 'invalid_request_error', 'repeat'],
  email_taken: [409, 'invalid_request_error', 'final'],
  already_member: [409, 'invalid_request_error', 'final'],
  member_inactive: [409, 'invalid_request_error', 'final'],
  last_owner: [409, 'invalid_request_error', 'final'],
  last_operator: [409, 'invalid_request_error', 'final'],
  last_way: [409, 'invalid_request_error', 'final'],
  too_many_keys: [409, 'invalid_request_error', 'final'],
  idempotency_key_reused: [409, 'invalid_request_error', 'final'],
  version_conflict: [412, 'invalid_request_error', 'final'],
  model_not_found: [404, 'not_found_error', 'final'],
  key_not_found: [404, 'not_found_error', 'final'],
  account_not_found: [404, 'not_found_error', 'final'],
  entry_not_found: [404, 'not_found_error', 'final'],
  call_not_found: [404, 'not_found_error', 'final'],
  object_not_found: [404, 'not_found_error', 'final'],
  member_not_found: [404, 'not_found_error', 'final'],
  invitation_not_found: [404, 'not_found_error', 'final'],
  person_not_found: [404, 'not_found_error', 'final'],
  session_not_found: [404, 'not_found_error', 'final'],
  identity_not_found: [404, 'not_found_error', 'final'],
  setup_gone: [410, 'not_found_error', 'final'],
  invitation_gone: [410, 'not_found_error', 'final'],
  reset_gone: [410, 'not_found_error', 'final'],
  unknown_endpoint: [404, 'not_found_error', 'final'],
  upgrade_required: [426, 'invalid_request_error', 'final'],
  spending_limit_exceeded: [402, 'billing_error', 'final'],
  insufficient_credits: [402, 'billing_error', 'final'],
  rate_limit_exceeded: [429, 'rate_limit_error', 'repeat'],
  usage_limit_reached: [429, 'usage_limit_reached', 'final'],
  upstream_auth_failed: [502, 'upstream_error', 'final'],
  upstream_unavailable: [502, 'upstream_error', 'repeat'],
  upstream_timeout: [504, 'upstream_error', 'repeat'],
  service_unavailable: [503, 'service_unavailable_error', 'repeat'],
  internal_error: [500, 'internal_error', 'repeat'],
} as const satisfies Record<string, readonly [status: number, type: string, retry: 'final' | 'repeat']>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * Range of `Retry-After` seconds when the gateway itself is unavailable, so that its clients do not all return at once.
 * At 1 s, Codex would repeat a call 30 times in 30 s.
 */
const UNABLE_S = { least: 2, most: 5 };

/** The spending limit that refuses a call, as the API shows it: credits as a number, sums as decimal strings. */
export interface RefusingLimit {
  readonly of: SpendingOwner;
  readonly period: LimitPeriod;
  readonly credits: number;
  /** Null for a reader who may not see them. */
  readonly spent: string | null;
  readonly held: string | null;
  /** Null if its window does not end or has not begun. */
  readonly resets_at: string | null;
}

/** Figures that a 402 adds to its message: credits as decimal strings (specification section 3). */
export interface Shortfall {
  /** Null for a key that may not see the balance. */
  readonly balance: string | null;
  readonly held: string | null;
  readonly hold: string;
  readonly estimate: string;
  /** Largest output maximum with which the call would have been admitted; null if lowering it cannot help. */
  readonly affordable_max_tokens: number | null;
  /** With `spending_limit_exceeded`. */
  readonly limit?: RefusingLimit;
}

/**
 * Facts behind a refusal that an owner needs to fix it (specification section 14). Names and values are those of the
 * API: credits are decimal strings.
 */
export interface RefusalDetail extends Readonly<Partial<Record<CallerFact, string | null>>> {
  readonly hold?: string;
  readonly estimate?: string;
  /** Of the account, so for readers who may see it. */
  readonly balance?: string | null;
  readonly held?: string | null;
  /** A spending limit, or the field of another one: `rpm_limit`, `tpm_limit`, `max_parallel_requests`. */
  readonly limit?: string | RefusingLimit;
  readonly of?: 'key' | 'account';
  readonly retry_after_ms?: number;
}

/** Detail that makes Anthropic's clients resend the call without the unsupported features. */
interface ErrorDetails {
  readonly error_code: 'thread_unsupported_request';
  readonly unsupported: readonly string[];
}

/** Reason for a 402: a spent limit, an empty account, or too little room for the hold. */
export type Lack =
  | { readonly what: 'limit'; readonly resetsAtS: number }
  | { readonly what: 'credits' }
  | { readonly what: 'room' };

interface ErrorBody {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: ErrorCode;
  readonly metadata?: Shortfall;
  readonly details?: ErrorDetails;
  /** Seconds since the epoch. */
  readonly resets_at?: number;
}

const NO_HEADERS = Object.freeze({});

/** A refusal that reaches the client unchanged. Its message is for users and contains nothing internal. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly param: string | null;
  /** Seconds for `Retry-After`; only with `service_unavailable`, which sets it itself, and `rate_limit_exceeded`. */
  readonly retryAfterS: number | undefined;
  /** Milliseconds for `retry-after-ms`, if known; `retryAfterS` is then the next whole second. */
  readonly retryAfterMs: number | undefined;
  readonly metadata: Shortfall | undefined;
  readonly details: ErrorDetails | undefined;
  /** Only with 402, and not in the body. */
  readonly lack: Lack | undefined;
  /** End of a spent period, in seconds since the epoch; only with `usage_limit_reached`. */
  readonly resetsAtS: number | undefined;
  /** Headers of the answer, in addition to those of the status. */
  readonly headers: Readonly<Record<string, string>>;
  /** True if the same request must not be sent again. */
  readonly isFinal: boolean;
  /** Facts behind the refusal, for the record of the call. */
  readonly facts: RefusalDetail | undefined;
  readonly statusCode: number;

  constructor(
    code: ErrorCode,
    message: string,
    param: string | null = null,
    retryAfterS?: number,
    options?: ErrorOptions & {
      readonly metadata?: Shortfall;
      readonly details?: ErrorDetails;
      readonly lack?: Lack;
      readonly resetsAtS?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly retryAfterMs?: number;
      readonly isFinal?: boolean;
      /** If not that of the code. */
      readonly statusCode?: number;
      readonly facts?: RefusalDetail | undefined;
    },
  ) {
    super(message, options);
    this.name = 'GatewayError';
    this.code = code;
    this.param = param;
    this.metadata = options?.metadata;
    this.details = options?.details;
    this.lack = options?.lack;
    this.resetsAtS = options?.resetsAtS;
    this.headers = options?.headers ?? NO_HEADERS;
    this.isFinal = options?.isFinal ?? ERRORS[code][2] === 'final';
    this.facts = options?.facts;
    this.statusCode = options?.statusCode ?? ERRORS[code][0];
    const ms = options?.retryAfterMs;
    this.retryAfterMs = ms;
    const seconds = ms === undefined ? retryAfterS : Math.max(1, Math.ceil(ms / 1_000));
    if (code === 'rate_limit_exceeded') this.retryAfterS = seconds ?? 1;
    else if (code === 'service_unavailable') this.retryAfterS = unableForS();
  }

  /** Specification section 3: `{"error":{"message","type","param","code"}}`, with `metadata` and `details` if there are some. */
  body(): { error: ErrorBody } {
    const { message, param, code, metadata, details, resetsAtS, statusCode } = this;
    const type = code === 'invalid_credentials' && statusCode === 403 ? 'permission_error' : ERRORS[code][1];
    const error = { message, type, param, code };
    return {
      error: {
        ...error,
        ...(metadata && { metadata }),
        ...(details && { details }),
        ...(resetsAtS !== undefined && { resets_at: resetsAtS }),
      },
    };
  }
}

function unableForS(): number {
  const { least, most } = UNABLE_S;
  return least + Math.floor(Math.random() * (most - least + 1));
}

/** 400 `invalid_field`: `param` names the field, the message says how to fix it. */
export function invalidField(param: string, message: string): GatewayError {
  return new GatewayError('invalid_field', message, param);
}

/** 400 `invalid_json`: an unreadable or ambiguous body. */
export function invalidJson(message: string, param: string | null = null): GatewayError {
  return new GatewayError('invalid_json', message, param);
}

/** Longest client text that an error message quotes, in UTF-16 code units. */
const LONGEST_QUOTE = 100;

/** Truncates client text for an error message. */
export function cutShort(text: string): string {
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

/** Matches ASCII names, which fold to their lower case. */
const ASCII = /^[\0-\x7f]*$/;
/** Combining dot above, a remainder of `İ` in lower case. */
const DOT_ABOVE = /\u0307/g;

/**
 * Longest name worth folding, in UTF-16 units: no known name is longer, and no decoder mistakes a longer name for a
 * shorter one. Clients choose the number and length of the names that they send.
 */
const LONGEST_FOLDED = 48;

/** Recent results: a client can send one name a hundred thousand times. */
const FOLDED = new Map<string, string>();
const MOST_FOLDED = 1_000;

/**
 * Folds a name so that names which any decoder could confuse become equal. Decoders that ignore case differ: Go folds
 * `ſ` (U+017F) to s and `K` (U+212A) to k, Java compares by upper and by lower case (`ı` and `İ` are i), Python folds
 * `ß` to ss and `ﬆ` to st.
 */
export function foldName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  if (name.length > LONGEST_FOLDED) return name;
  const known = FOLDED.get(name);
  if (known !== undefined) return known;
  const folded = name.toUpperCase().toLowerCase().replace(DOT_ABOVE, '');
  if (FOLDED.size >= MOST_FOLDED) FOLDED.clear();
  FOLDED.set(name, folded);
  return folded;
}

/** 400 `invalid_json` for a name that some upstreams read as `folded`. `param`: the request field that contains it. */
export function otherCase(where: string, name: string, folded: string, param = folded): GatewayError {
  return invalidJson(
    `${where} has the field ${JSON.stringify(name.slice(0, 100))}, which can be read as "${folded}". Write it in lowercase.`,
    param,
  );
}
