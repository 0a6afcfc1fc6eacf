import { MAX_CREDITS } from '../domain/credits.ts';
import { CATEGORIES, SPENDING_PERIODS } from '../domain/key.ts';
import {
  LONGEST_DESCRIPTION,
  LONGEST_NAME,
  LONGEST_SLUG,
  LONGEST_WEBHOOK_URL,
  MOST_ITEMS,
} from '../domain/key-fields.ts';
import { defaultOf, type WireName } from '../domain/key-settings.ts';
import { callLimitSchemas } from './call-limit-fields.ts';
import {
  balance,
  cursor,
  exactCredits,
  id,
  pageLimit,
  SIX_DECIMALS,
  TEXT_PATTERNS,
  timestamp,
  timestampOrNull,
  words,
} from './docs/fields.ts';
import { type Schema, Type } from './docs/json-type.ts';

const list = <T>(items: Schema<T>, description: string) =>
  Type.Array(items, { maxItems: MOST_ITEMS, description });

/** Every field that create and PATCH take, described; domain/key-settings.ts has the reader of each. */
const settings = {
  name: Type.String({
    minLength: 1,
    maxLength: LONGEST_NAME,
    pattern: TEXT_PATTERNS.line,
    description: 'Display name, one line; spaces around it are taken off.',
  }),
  description: Type.String({
    maxLength: LONGEST_DESCRIPTION,
    pattern: TEXT_PATTERNS.printable,
    description: 'A note for people; empty string: none.',
  }),
  is_active: Type.Boolean({ description: 'Whether the key can be used. true brings a deleted key back.' }),
  can_manage: Type.Boolean({
    description:
      'Whether the key may create, change and delete keys, and sees the account: other keys, balance, alerts, webhook secret. ' +
      'A key loses it when another key or the operator gives it a restriction, unless the same request says true.',
  }),
  expires_at: timestampOrNull(
    'When the key stops working; null: never. ISO 8601 with `Z` or an offset; answered in UTC.',
  ),
  allowed_models: list(
    Type.String({ minLength: 1, maxLength: LONGEST_SLUG, pattern: TEXT_PATTERNS.trimmedLine }),
    'Models that the key may call, as `GET /v1/models` names them; empty: all.',
  ),
  allowed_categories: list(Type.Enum(CATEGORIES), 'Modalities that the key may call; empty: all.'),
  spending_limit: Type.Union(
    [Type.Number({ minimum: 0, maximum: MAX_CREDITS, ...SIX_DECIMALS.ofPositive }), Type.Null()],
    {
      description:
        'Most credits that the key may spend in a period, at most six decimals; 0 lets nothing through that costs, null is ' +
        'no limit.',
    },
  ),
  spending_period: words(
    SPENDING_PERIODS,
    'UTC day from 00:00, week from Monday 00:00, or month from day 1.',
  ),
  ...callLimitSchemas("the key's"),
  active_hours: Type.String({
    pattern: '^(([01]\\d|2[0-3]):[0-5]\\d-(([01]\\d|2[0-3]):[0-5]\\d|24:00))?$',
    description:
      'UTC range `HH:MM-HH:MM` in which the key works, its end excluded; wraps past midnight where the start is later. ' +
      'Start and end must differ. Empty string: always.',
  }),
  allowed_ips: list(
    Type.String({ pattern: TEXT_PATTERNS.ipRange }),
    'IPv4 or IPv6 addresses or CIDR ranges from which the key works; answered normalised. Empty: all.',
  ),
  allowed_origins: list(
    Type.String({ pattern: TEXT_PATTERNS.origin }),
    'Pages from which browsers may use the key: `https://app.example.com[:port]`, `https://*.example.com` (any depth ' +
      'below it, not itself) or `example.com` (any scheme and port); compared with `Origin`, else with `Referer`. Empty: ' +
      'no restriction.',
  ),
  blocked_countries: list(
    Type.String({ pattern: TEXT_PATTERNS.country }),
    'ISO 3166-1 alpha-2 codes of countries from which the key does not work; answered in upper case. An address of no ' +
      'known country passes.',
  ),
  webhook_url: Type.String({
    maxLength: LONGEST_WEBHOOK_URL,
    pattern: TEXT_PATTERNS.webhookUrl,
    description:
      'Receives the low-credits alert: an absolute http or https URL without user name or password. Empty string: none.',
  }),
} satisfies Record<WireName, Schema>;

const prefix = Type.String({
  description: 'Start of the key value, by which a key is told from others without revealing it.',
});

/**
 * A key as the list shows it: the fields of specification section 2 in their order, then `can_manage` and `version`, then
 * the limits of section 11 and what else is newer.
 */
export const Key = Type.Object(
  {
    id: id('Names the key in paths.'),
    name: settings.name,
    description: settings.description,
    prefix,
    is_active: settings.is_active,
    expires_at: settings.expires_at,
    allowed_models: settings.allowed_models,
    allowed_categories: settings.allowed_categories,
    spending_limit: settings.spending_limit,
    spending_current: exactCredits('Spent in the current period.'),
    spending_period: settings.spending_period,
    active_hours: settings.active_hours,
    allowed_ips: settings.allowed_ips,
    allowed_origins: settings.allowed_origins,
    blocked_countries: settings.blocked_countries,
    webhook_url: settings.webhook_url,
    created_at: timestamp('When the key was created.'),
    can_manage: settings.can_manage,
    version: Type.Integer({
      minimum: 1,
      description: 'Raised by every change of the settings, never by calls; for `If-Match`.',
    }),
    rpm_limit: settings.rpm_limit,
    tpm_limit: settings.tpm_limit,
    max_parallel_requests: settings.max_parallel_requests,
    last_used_at: timestampOrNull(
      'When the latest call of the key was settled, successful or not, that has a row in the ledger; null: none has.',
    ),
    previous_valid_until: timestampOrNull(
      'Until when the previous value can be used, too; null: there is none, or its time is over.',
    ),
  },
  { title: 'Key', description: 'A key, without its value.' },
);

/** A key as it sees itself (specification section 2, "What a key sees"). */
export const OwnKey = Type.Object(
  {
    ...Key.properties,
    limit_remaining: Type.Union([exactCredits('What is left of the limit.'), Type.Null()], {
      description:
        'The limit less what is spent in the period, at least 0; null: no limit. What calls in flight hold is not counted.',
    }),
    period_ends_at: timestamp('When the current period ends and the next begins.'),
    credits_balance: Type.Optional(balance('Of the account; only for a key that can manage.')),
  },
  { title: 'OwnKey', description: 'The calling key, with what it may still spend.' },
);

export const KeyList = Type.Object(
  {
    keys: Type.Array(Key),
    next: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description:
          'Only where `limit` was sent: to be sent as `after` for the following page; null: there is none.',
      }),
    ),
  },
  { title: 'KeyList', description: 'Keys by id ascending, inactive ones included.' },
);

export const KeyListQuery = Type.Object({
  limit: pageLimit('How many keys a page has; without it, the answer has all of them.'),
  after: cursor('The `next` of the page before: keys with higher ids only.'),
});

/** Answer to the creation of a key, the only one that shows its value (specification section 2). */
export const CreatedKey = Type.Object(
  {
    id: id('Names the key in paths.'),
    name: Type.String({ description: 'Display name.' }),
    prefix,
    key: Type.String({ description: 'The value of the key. It is in this answer only: save it now.' }),
    created_at: timestamp('When the key was created.'),
    _service: Type.Object(
      { note: Type.String({ description: 'Says that the value will not be shown again.' }) },
      { description: 'From the gateway, for people.' },
    ),
  },
  { title: 'CreatedKey', description: 'The new key, with its value.' },
);

export const DeletedKey = Type.Object(
  { deleted: Type.Literal(true, { description: 'The key is inactive, now or since before.' }) },
  { title: 'DeletedKey', description: 'The key is inactive.' },
);

export const KeyPatch = Type.Partial(Type.Object(settings), {
  title: 'KeyPatch',
  description: 'The fields to change; what is not sent stays as it is.',
  additionalProperties: false,
});

const { name, ...mayBeMissing } = settings;

/** Fields that may be missing when a key is created, with their defaults (specification section 2, "Fields"). */
const optional = Object.fromEntries(
  Object.entries(mayBeMissing).map(([field, schema]) => {
    const value = defaultOf(field);
    return [field, value === undefined ? schema : { ...schema, default: value }];
  }),
) as typeof mayBeMissing;

export const NewKeyBody = Type.Object(
  { name, ...Type.Partial(Type.Object(optional)).properties },
  {
    title: 'NewKey',
    description: 'The settings of the new key; `can_manage` is true where it has no restriction.',
    additionalProperties: false,
  },
);

/** Matches one version, with quotes (an entity tag of RFC 9110) or without, or `*`. */
export const IF_MATCH = /^(\*|"\d{1,15}"|\d{1,15})$/;

/** Headers of the routes that change a key. */
export const KeyChangeHeaders = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      pattern: IF_MATCH.source,
      description:
        'The `version` on which the change is built, quotes optional: at any other one nothing is changed. `*` is any ' +
        'version, as is no such header.',
      examples: ['"3"'],
    }),
  ),
});

export const KeyPath = Type.Object({
  key_id: Type.Integer({ minimum: 1, description: 'Id of the key.', examples: [2] }),
});
