import type { CallerFact } from './caller-facts.ts';
import type { ErrorCode } from './errors.ts';
import { type FieldType, TYPES } from './key-readers.ts';

interface Row {
  /** Name in the API, and of the column in the book. */
  readonly wire: string;
  readonly type: FieldType;
  /** Value of a key whose creation does not name the field; absent: `name`, and `canManage`, which follows from the others. */
  readonly fallback?: unknown;
  /** Whether the field can be so long that the size of a key's settings counts it. */
  readonly isLong: boolean;
  /** Description in the API. */
  readonly help: string;
  /** Option of `tollgate key create` and `edit`; null: there is a command or an argument instead. */
  readonly option: Option | null;
  /** Label on the dashboard. */
  readonly label: string;
  /** Word on the dashboard for an empty value. */
  readonly none: string;
  /** For lists that are typed item by item in the key form, which need no separate component. */
  readonly typed?: { readonly hint: string; readonly placeholder: string };
}

interface Option {
  readonly flag: string;
  /** Name of the value in the help; absent: the option is a flag. */
  readonly value?: string;
  readonly help: string;
  /** Help of `--no-<flag>`; absent: `edit` cannot empty the field. */
  readonly lifted?: string;
}

/**
 * A field that restricts a key. A key that is handed out with one may not manage, because it could lift it
 * (specification section 2, "Who may manage").
 */
interface AnyRestriction extends Row {
  /** Name of its check if a call is explained. */
  readonly check: string;
  /** The restriction in a list of keys: a text, in which `{}` is the value, or what a number or list has one and several of. */
  readonly short: string | readonly [one: string, many: string];
}

/** A restriction with a check of its own in rules.ts. */
export interface CheckedRestriction extends AnyRestriction {
  /** What the check is about: every request of the key (CALLER_RESTRICTIONS), or its model (MODEL_RESTRICTIONS). */
  readonly restricts: 'caller' | 'model';
  /** Code of the refusal. */
  readonly code: ErrorCode;
  /** Facts of the caller for the record of a refused call; the check compares the last. Absent: it compares the time. */
  readonly reads?: readonly CallerFact[];
}

export type Restriction =
  | CheckedRestriction
  /** Checked among the limits of calls, or as spending. */
  | (AnyRestriction & { readonly restricts: 'calls' | 'spending' });

export interface Setting extends Row {
  readonly restricts: false;
}

/**
 * The fields of a key that create and PATCH take (specification section 2), a row each. A new one is a row here with a
 * type (key-readers.ts), a column in a migration and, if it restricts, its check in rules.ts, where `restricts` says.
 * A column without a value has the fallback. A published record without the field is read from the book (keyRecordIn).
 */
export const KEY_FIELDS = {
  name: {
    wire: 'name',
    type: TYPES.name,
    restricts: false,
    isLong: true,
    help: 'Display name, one line; surrounding spaces are trimmed.',
    option: null,
    label: 'Name',
    none: 'none',
  },
  description: {
    wire: 'description',
    type: TYPES.description,
    fallback: '',
    restricts: false,
    isLong: true,
    help: 'A note. Empty string: none.',
    option: { flag: 'description', value: 'text', help: 'note about the key', lifted: 'no note' },
    label: 'Note',
    none: 'none',
  },
  isActive: {
    wire: 'is_active',
    type: TYPES.flag,
    fallback: true,
    restricts: false,
    isLong: false,
    help: 'Whether the key can be used. `true` restores a deleted key.',
    option: null,
    label: 'Active',
    none: 'no',
  },
  expiresAt: {
    wire: 'expires_at',
    type: TYPES.time,
    fallback: null,
    restricts: 'caller',
    code: 'expired_api_key',
    check: 'Not expired',
    short: 'expiry',
    isLong: false,
    help: 'When the key expires, in ISO 8601 with `Z` or an offset, returned in UTC. null: never.',
    option: {
      flag: 'expires',
      value: 'time',
      help: 'when it expires, ISO 8601 with Z or an offset',
      lifted: 'it never expires',
    },
    label: 'Expires',
    none: 'never',
  },
  allowedModels: {
    wire: 'allowed_models',
    type: TYPES.models,
    fallback: [],
    restricts: 'model',
    code: 'model_not_allowed',
    check: 'Allowed models',
    short: ['model', 'models'],
    isLong: true,
    help: 'Models the key can call, named as in `GET /v1/models`; an alias is stored as that name. `*` at the end allows every name that begins so (`gpt-5*`). Empty: all.',
    option: {
      flag: 'models',
      value: 'names',
      help: 'models it can call, comma-separated',
      lifted: 'all models',
    },
    label: 'Models',
    none: 'all models',
  },
  allowedCategories: {
    wire: 'allowed_categories',
    type: TYPES.categories,
    fallback: [],
    restricts: 'model',
    code: 'category_not_allowed',
    check: 'Modality',
    short: 'modalities',
    isLong: false,
    help: 'Modalities the key can call. Empty: all.',
    option: {
      flag: 'categories',
      value: 'names',
      help: 'categories it can call: text, image, tts, stt, video',
      lifted: 'all categories',
    },
    label: 'Modalities',
    none: 'all',
  },
  spendingLimit: {
    wire: 'spending_limit',
    type: TYPES.credits,
    fallback: null,
    restricts: 'spending',
    check: 'Spending limit',
    short: 'spending limit',
    isLong: false,
    help:
      'Maximum credits per period, with at most six decimals. 0: only free calls, if nothing is spent in the period; ' +
      'null: no limit.',
    option: {
      flag: 'limit',
      value: 'limit',
      help:
        'maximum credits it can spend per period of --period; or, repeatable, in a period: 5h=2, daily=5, weekly=20, ' +
        'monthly=50, total=100. These replace all earlier ones of the kind',
      lifted: 'no spending limits',
    },
    label: 'Spending limit in credits',
    none: 'none',
  },
  spendingPeriod: {
    wire: 'spending_period',
    type: TYPES.period,
    fallback: 'monthly',
    restricts: false,
    isLong: false,
    help: 'UTC day from 00:00, week from Monday 00:00, or month from day 1.',
    option: { flag: 'period', value: 'period', help: 'period of the limit' },
    label: 'Period',
    none: 'none',
  },
  spendingLimits: {
    wire: 'spending_limits',
    type: TYPES.spendingLimits,
    fallback: [],
    restricts: 'spending',
    check: 'Spending limits',
    short: ['more spending limit', 'more spending limits'],
    isLong: false,
    help:
      'More spending limits, which hold together with `spending_limit`: a list of `{"period", "credits"}`, at most one for each ' +
      'period: `5h` (five hours from the first call after the last five ended), `daily`, `weekly`, `monthly`, `total` (for good). ' +
      'Empty: none.',
    option: null,
    label: 'More spending limits',
    none: 'none',
  },
  activeHours: {
    wire: 'active_hours',
    type: TYPES.hours,
    fallback: '',
    restricts: 'caller',
    code: 'outside_active_hours',
    check: 'Active hours',
    short: '{} UTC',
    isLong: false,
    help:
      'UTC range `HH:MM-HH:MM` in which the key works, end excluded. It wraps past midnight if the start is later. ' +
      'Start and end must differ. Empty string: always.',
    option: {
      flag: 'hours',
      value: 'range',
      help: 'UTC hours it works in, such as 08:00-18:00 or, past midnight, 22:00-06:00',
      lifted: 'at any hour',
    },
    label: 'Active hours (UTC)',
    none: 'at any time',
  },
  allowedIps: {
    wire: 'allowed_ips',
    type: TYPES.ips,
    fallback: [],
    restricts: 'caller',
    code: 'ip_not_allowed',
    reads: ['ip'],
    check: 'IP address',
    short: ['IP', 'IPs'],
    isLong: true,
    help: 'IPv4 or IPv6 addresses or CIDR ranges the key works from, returned normalized. Empty: all.',
    option: {
      flag: 'ips',
      value: 'ranges',
      help: 'IP addresses or CIDR ranges it works from, comma-separated',
      lifted: 'from any address',
    },
    label: 'Allowed IP addresses',
    none: 'any',
    typed: {
      hint: 'IPv4 or IPv6 addresses or CIDR ranges. Leave empty to allow any.',
      placeholder: '203.0.113.0/24',
    },
  },
  allowedOrigins: {
    wire: 'allowed_origins',
    type: TYPES.origins,
    fallback: [],
    restricts: 'caller',
    code: 'origin_not_allowed',
    reads: ['origin'],
    check: 'Origin',
    short: ['origin', 'origins'],
    isLong: true,
    help:
      'Browser origins the key works from: `https://app.example.com[:port]`, `https://*.example.com` (any depth ' +
      'below it, not itself) or `example.com` (any scheme and port); for desktop apps also `file://`, `null`, `app://.` and `<scheme>://*`. Compared with `Origin`, else `Referer`. Empty: ' +
      'no restriction.',
    option: {
      flag: 'origins',
      value: 'origins',
      help: 'browser origins it works from, such as https://app.example.com, comma-separated',
      lifted: 'from any origin, or none',
    },
    label: 'Allowed browser origins',
    none: 'any, or none',
    typed: {
      hint: 'Pages that can use the key in a browser: https://app.example.com, https://*.example.com for all subdomains, or example.com. Requests without an origin, such as from servers, are then refused. Leave empty to allow any.',
      placeholder: 'https://app.example.com',
    },
  },
  blockedCountries: {
    wire: 'blocked_countries',
    type: TYPES.countries,
    fallback: [],
    restricts: 'caller',
    code: 'country_blocked',
    reads: ['ip', 'country'],
    check: 'Country',
    short: ['blocked country', 'blocked countries'],
    isLong: true,
    help:
      'ISO 3166-1 alpha-2 codes of countries the key does not work from, returned in uppercase. An address with no ' +
      'known country passes.',
    option: {
      flag: 'countries',
      value: 'codes',
      help: 'countries it does not work from, such as FR, comma-separated',
      lifted: 'from any country',
    },
    label: 'Blocked countries',
    none: 'none',
    typed: {
      hint: 'Enter a name or a two- or three-letter code. Addresses with no known country are allowed.',
      placeholder: 'Country name',
    },
  },
  webhookUrl: {
    wire: 'webhook_url',
    type: TYPES.webhookUrl,
    fallback: '',
    restricts: false,
    isLong: true,
    help: 'Receives the low-credits alert: an absolute http or https URL without user name or password. Empty string: none.',
    option: {
      flag: 'webhook',
      value: 'url',
      help: 'http or https URL that receives the low-credits alert',
      lifted: 'no webhook',
    },
    label: 'Webhook URL',
    none: 'none',
  },
  canManage: {
    wire: 'can_manage',
    type: TYPES.flag,
    restricts: false,
    isLong: false,
    help:
      'Whether the key can manage keys and sees the account: other keys, balance, alerts, webhook secret. ' +
      'A key loses it when another key or the operator restricts it, unless the same request sets `true`.',
    option: {
      flag: 'can-manage',
      help: 'let it manage keys despite its restrictions',
      lifted: 'do not let it manage keys, even without restrictions',
    },
    label: 'Can manage',
    none: 'no',
  },
  rpmLimit: {
    wire: 'rpm_limit',
    type: TYPES.callLimit,
    fallback: null,
    restricts: 'calls',
    check: 'Requests per minute',
    short: ['request a minute', 'requests a minute'],
    isLong: false,
    help: 'Maximum calls of the key per minute. null: no limit.',
    option: {
      flag: 'rpm-limit',
      value: 'calls',
      help: 'maximum calls per minute',
      lifted: 'no limit on calls per minute',
    },
    label: 'Requests per minute',
    none: 'none',
  },
  tpmLimit: {
    wire: 'tpm_limit',
    type: TYPES.callLimit,
    fallback: null,
    restricts: 'calls',
    check: 'Tokens per minute',
    short: ['token a minute', 'tokens a minute'],
    isLong: false,
    help: 'Maximum tokens of the key per minute: uncached input, cache writes and output. null: no limit.',
    option: {
      flag: 'tpm-limit',
      value: 'tokens',
      help: 'maximum tokens per minute',
      lifted: 'no limit on tokens per minute',
    },
    label: 'Tokens per minute',
    none: 'none',
  },
  maxParallelRequests: {
    wire: 'max_parallel_requests',
    type: TYPES.callLimit,
    fallback: null,
    restricts: 'calls',
    check: 'Concurrency',
    short: ['call at once', 'calls in flight'],
    isLong: false,
    help: 'Maximum calls of the key in flight. null: no limit.',
    option: {
      flag: 'max-parallel-requests',
      value: 'calls',
      help: 'maximum calls in flight',
      lifted: 'no limit on calls in flight',
    },
    label: 'Concurrency',
    none: 'none',
  },
  restrictionsLocked: {
    wire: 'restrictions_locked',
    type: TYPES.flag,
    fallback: false,
    restricts: false,
    isLong: false,
    help:
      "Of a person's key: whether the person can only change its name and note, rotate and delete it. Owners and admins set " +
      'it; it becomes true if they create, restrict or deactivate the key, unless the request sets `false`.',
    option: {
      flag: 'restrictions-locked',
      help: 'let its person only rename, rotate and delete it',
      lifted: 'let its person change its settings',
    },
    label: 'Restrictions locked',
    none: 'no',
  },
} as const satisfies Readonly<Record<string, Restriction | Setting>>;

export type KeyFields = typeof KEY_FIELDS;
export type KeyField = keyof KeyFields;
