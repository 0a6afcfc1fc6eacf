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
  /** Field of the key form that is no component of its own: a list that is typed item by item. */
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
 * A field that restricts a key. A key that is handed out with one may not manage, because it could lift it (specification
 * section 2, "Who may manage").
 */
export interface Restriction extends Row {
  /**
   * Where it is checked: of every request of the key (CALLER_RESTRICTIONS in rules.ts), of its model (MODEL_RESTRICTIONS),
   * among the limits of calls, or as spending.
   */
  readonly restricts: 'caller' | 'model' | 'calls' | 'spending';
  /** Name of its check where a call is explained. */
  readonly check: string;
  /** The field inside a sentence about a check; default: its name in the API. */
  readonly inText?: string;
  /** The restriction in a list of keys: a text, in which `{}` is the value, or what a number or list has one and several of. */
  readonly short: string | readonly [one: string, many: string];
}

export interface Setting extends Row {
  readonly restricts: false;
}

/**
 * The fields of a key that create and PATCH take (specification section 2), a row each. A new one is a row here with a type
 * (key-readers.ts), a column in a migration and, if it restricts, its check in rules.ts, where `restricts` says.
 */
export const KEY_FIELDS = {
  name: {
    wire: 'name',
    type: TYPES.name,
    restricts: false,
    isLong: true,
    help: 'Display name, one line; spaces around it are taken off.',
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
    help: 'A note for people; empty string: none.',
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
    help: 'Whether the key can be used. true brings a deleted key back.',
    option: null,
    label: 'Active',
    none: 'no',
  },
  expiresAt: {
    wire: 'expires_at',
    type: TYPES.time,
    fallback: null,
    restricts: 'caller',
    check: 'Not expired',
    inText: 'expiry',
    short: 'expiry',
    isLong: false,
    help: 'When the key stops working; null: never. ISO 8601 with `Z` or an offset; answered in UTC.',
    option: {
      flag: 'expires',
      value: 'time',
      help: 'when it stops to work, ISO 8601 with Z or an offset',
      lifted: 'it never stops to work',
    },
    label: 'Expires',
    none: 'never',
  },
  allowedModels: {
    wire: 'allowed_models',
    type: TYPES.models,
    fallback: [],
    restricts: 'model',
    check: 'Allowed models',
    inText: 'allowed models',
    short: ['model', 'models'],
    isLong: true,
    help: 'Models that the key may call, as `GET /v1/models` names them; empty: all.',
    option: {
      flag: 'models',
      value: 'names',
      help: 'the only models that it may call, comma-separated',
      lifted: 'all models',
    },
    label: 'Models',
    none: 'all of the catalog',
  },
  allowedCategories: {
    wire: 'allowed_categories',
    type: TYPES.categories,
    fallback: [],
    restricts: 'model',
    check: 'Modality',
    inText: 'modalities',
    short: 'modalities',
    isLong: false,
    help: 'Modalities that the key may call; empty: all.',
    option: {
      flag: 'categories',
      value: 'names',
      help: 'the only categories: text, image, tts, stt, video',
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
      'Most credits that the key may spend in a period, at most six decimals; 0 lets nothing through that costs, null is ' +
      'no limit.',
    option: {
      flag: 'limit',
      value: 'credits',
      help: 'most credits that it may spend in a period',
      lifted: 'no limit of what it may spend',
    },
    label: 'Limit in credits',
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
    label: 'Counted by',
    none: 'none',
  },
  activeHours: {
    wire: 'active_hours',
    type: TYPES.hours,
    fallback: '',
    restricts: 'caller',
    check: 'Active hours',
    short: '{} UTC',
    isLong: false,
    help:
      'UTC range `HH:MM-HH:MM` in which the key works, its end excluded; wraps past midnight where the start is later. ' +
      'Start and end must differ. Empty string: always.',
    option: {
      flag: 'hours',
      value: 'range',
      help: 'the only hours of the day in UTC, as 08:00-18:00; past midnight as 22:00-06:00',
      lifted: 'at any hour',
    },
    label: 'Hours (UTC)',
    none: 'at any time',
  },
  allowedIps: {
    wire: 'allowed_ips',
    type: TYPES.ips,
    fallback: [],
    restricts: 'caller',
    check: 'IP address',
    inText: 'allowed IP addresses',
    short: ['address', 'addresses'],
    isLong: true,
    help: 'IPv4 or IPv6 addresses or CIDR ranges from which the key works; answered normalised. Empty: all.',
    option: {
      flag: 'ips',
      value: 'ranges',
      help: 'the only addresses or CIDR ranges, comma-separated',
      lifted: 'from any address',
    },
    label: 'Allowed IP addresses',
    none: 'any',
    typed: {
      hint: 'Addresses or CIDR ranges, IPv4 or IPv6. Empty: any.',
      placeholder: '203.0.113.0/24',
    },
  },
  allowedOrigins: {
    wire: 'allowed_origins',
    type: TYPES.origins,
    fallback: [],
    restricts: 'caller',
    check: 'Origin',
    inText: 'allowed origins',
    short: ['origin', 'origins'],
    isLong: true,
    help:
      'Pages from which browsers may use the key: `https://app.example.com[:port]`, `https://*.example.com` (any depth ' +
      'below it, not itself) or `example.com` (any scheme and port); compared with `Origin`, else with `Referer`. Empty: ' +
      'no restriction.',
    option: {
      flag: 'origins',
      value: 'origins',
      help: 'the only pages whose browsers may use it, as https://app.example.com, comma-separated',
      lifted: 'from any page, or none',
    },
    label: 'Allowed browser origins',
    none: 'any, or none',
    typed: {
      hint: 'Pages that may use the key in a browser: https://app.example.com, https://*.example.com for everything below it, or example.com. Calls without an origin, as from servers, are refused then. Empty: any.',
      placeholder: 'https://app.example.com',
    },
  },
  blockedCountries: {
    wire: 'blocked_countries',
    type: TYPES.countries,
    fallback: [],
    restricts: 'caller',
    check: 'Country',
    inText: 'blocked countries',
    short: ['blocked country', 'blocked countries'],
    isLong: true,
    help:
      'ISO 3166-1 alpha-2 codes of countries from which the key does not work; answered in upper case. An address of no ' +
      'known country passes.',
    option: {
      flag: 'countries',
      value: 'codes',
      help: 'countries that it is not used from, as FR, comma-separated',
      lifted: 'from any country',
    },
    label: 'Blocked countries',
    none: 'none',
    typed: {
      hint: 'By name or by a code of two or three letters. An address of no known country passes.',
      placeholder: 'Name of a country',
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
      help: 'http or https address that gets the low-credits alert',
      lifted: 'no alert to an address of this key',
    },
    label: 'Webhook address',
    none: 'none',
  },
  canManage: {
    wire: 'can_manage',
    type: TYPES.flag,
    restricts: false,
    isLong: false,
    help:
      'Whether the key may create, change and delete keys, and sees the account: other keys, balance, alerts, webhook secret. ' +
      'A key loses it when another key or the operator gives it a restriction, unless the same request says true.',
    option: {
      flag: 'can-manage',
      help: 'let it manage keys, in spite of restrictions',
      lifted: 'do not let it manage keys, though it has no restrictions',
    },
    label: 'May manage',
    none: 'no',
  },
  rpmLimit: {
    wire: 'rpm_limit',
    type: TYPES.callLimit,
    fallback: null,
    restricts: 'calls',
    check: 'Requests a minute',
    short: ['request a minute', 'requests a minute'],
    isLong: false,
    help: "Most of the key's calls that may begin in a minute. null: no limit.",
    option: {
      flag: 'rpm-limit',
      value: 'calls',
      help: 'most calls that may begin in a minute',
      lifted: 'no limit of calls in a minute',
    },
    label: 'Requests a minute',
    none: 'none',
  },
  tpmLimit: {
    wire: 'tpm_limit',
    type: TYPES.callLimit,
    fallback: null,
    restricts: 'calls',
    check: 'Tokens a minute',
    short: ['token a minute', 'tokens a minute'],
    isLong: false,
    help: "Most tokens of the key's calls in a minute: input that is not cached, cache writes and output. null: no limit.",
    option: {
      flag: 'tpm-limit',
      value: 'tokens',
      help: 'most tokens in a minute',
      lifted: 'no limit of tokens in a minute',
    },
    label: 'Tokens a minute',
    none: 'none',
  },
  maxParallelRequests: {
    wire: 'max_parallel_requests',
    type: TYPES.callLimit,
    fallback: null,
    restricts: 'calls',
    check: 'Calls at once',
    short: ['call at once', 'calls at once'],
    isLong: false,
    help: "Most of the key's calls that may be in flight at once. null: no limit.",
    option: {
      flag: 'max-parallel-requests',
      value: 'calls',
      help: 'most calls in flight at once',
      lifted: 'no limit of calls in flight at once',
    },
    label: 'Calls at once',
    none: 'none',
  },
} as const satisfies Readonly<Record<string, Restriction | Setting>>;

export type KeyFields = typeof KEY_FIELDS;
export type KeyField = keyof KeyFields;
