import { PATCHED, rowAt, WIRE_NAMES, type WireSettings } from '../../domain/key-settings.ts';
import { KEY_STATUSES } from '../../domain/key-status.ts';
import { fieldSchemas, maybe, oneOf, section } from '../../domain/shape.ts';
import {
  anyText,
  balance,
  CURSOR,
  exactCredits,
  ID_PARAM,
  id,
  orNull,
  PAGE_LIMIT,
  time,
  timeOrNull,
  words,
} from '../openapi/fields.ts';
import { Type } from '../openapi/json-type.ts';
import { LIMIT_EXAMPLE, Limit } from './limit-view.ts';

/** Schemas of all fields that create and PATCH accept. */
const settings = fieldSchemas(PATCHED);

const prefix = Type.String({
  description: 'Start of the key value, which identifies a key without revealing it.',
});

const { name, description, ...others } = settings;

/** A key in the list: settings and read-only fields. */
export const Key = Type.Object(
  {
    id: id('Id of the key.'),
    name,
    description,
    prefix,
    person_id: orNull(
      id('Id of the person.'),
      "Id of the person whose key it is; null: the account's. Never changes.",
    ),
    member: orNull(
      Type.Object({
        id: id('Id of the person.'),
        name: Type.String({ description: 'Name of the person, or else the e-mail address.' }),
      }),
      "The person whose key it is; null: the account's.",
    ),
    status: words(
      KEY_STATUSES,
      'What becomes of calls with the key. `limit_reached`: a spending limit of the key, its member or its account is spent. ' +
        '`all_refused`: its last five or more calls of 24 hours were all refused.',
    ),
    ...others,
    spending_current: exactCredits('Spend in the current period.'),
    created_at: time('When the key was created.'),
    version: Type.Integer({
      minimum: 1,
      description: 'Rises with every change of the settings, never with calls. Send it in `If-Match`.',
    }),
    last_used_at: timeOrNull(
      'Time of the latest call with a row in the ledger, successful or not; null: none.',
    ),
    previous_valid_until: timeOrNull('When the previous value ends; null: no previous value is valid.'),
    limits: Type.Array(Limit, { description: "The key's spending limits, with what is left of each." }),
  },
  { title: 'Key', description: 'A key, without its value.' },
);

/** A key as it sees itself (specification section 2, "What a key sees"). */
export const OwnKey = Type.Object(
  {
    ...Key.properties,
    account_id: id('Id of its account.'),
    limits: Type.Array(Limit, {
      description: "The spending limits that bind the key, its account's too, with what is left of each.",
    }),
    limit_remaining: orNull(
      exactCredits('What is left of the limit.'),
      'The limit minus the spend of the period, at least 0; null: no limit. Holds do not count.',
    ),
    period_ends_at: time('End of the current period.'),
    credits_balance: Type.Optional(balance('Balance of the account; only for a key that can manage.')),
  },
  { title: 'OwnKey', description: 'The calling key, with what is left of its limit.' },
);

export const KeyList = Type.Object(
  {
    keys: Type.Array(Key),
    next: Type.Optional(
      orNull(Type.String(), 'Send it as `after` for the next page; null: no more. Absent without `limit`.'),
    ),
  },
  { title: 'KeyList', description: 'Keys by ascending id, including inactive ones.' },
);

export const KeyListQuery = section({
  limit: maybe(PAGE_LIMIT, 'Number of keys per page. Default: all keys.'),
  after: maybe(CURSOR, '`next` of the previous page: only keys with higher ids.'),
  search: maybe(
    anyText({ examples: ['web'] }),
    'Only keys with this text in their name, description or prefix. ASCII letters match in any case.',
  ),
  person_id: maybe(ID_PARAM, 'Only keys of this person.'),
  status: maybe(oneOf(...KEY_STATUSES), 'Only keys with this status.'),
});

/** Response to key creation, the only one that shows the value (specification section 2). */
export const CreatedKey = Type.Object(
  {
    id: id('Id of the key.'),
    name: Type.String({ description: 'Display name.' }),
    prefix,
    key: Type.String({ description: 'The value of the key. It is in this answer only: save it now.' }),
    created_at: time('When the key was created.'),
    _service: Type.Object(
      { note: Type.String({ description: 'Says that the value will not be shown again.' }) },
      { description: 'From the gateway, for people.' },
    ),
  },
  { title: 'CreatedKey', description: 'The new key, with its value.' },
);

export const DeletedKey = Type.Object(
  { deleted: Type.Literal(true, { description: 'The key is inactive.' }) },
  { title: 'DeletedKey', description: 'The key is inactive.' },
);

/** Matches `*` or one version, with quotes (an entity tag of RFC 9110) or without. */
export const IF_MATCH = /^(\*|"\d{1,15}"|\d{1,15})$/;

/** Headers of the routes that change a key. */
export const KeyChangeHeaders = Type.Object({
  'If-Match': Type.Optional(
    Type.String({
      pattern: IF_MATCH.source,
      description:
        'The `version` that your change is based on, with or without quotes. If the key has another version, nothing ' +
        'changes. `*` or no header accepts any version.',
      examples: ['"3"'],
    }),
  ),
});

export const KeyPath = Type.Object({
  key_id: Type.Integer({ minimum: 1, description: 'Id of the key.', examples: [2] }),
});

/** Response to a rotation, the only one that shows the new value (specification section 2). */
export const RotatedKey = Type.Object(
  {
    ...CreatedKey.properties,
    previous_valid_until: timeOrNull("End of the previous value, by Redis' clock; null: it has ended."),
  },
  { title: 'RotatedKey', description: 'The key with its new value.' },
);

export const RotatedOrEnded = Type.Union([RotatedKey, Key], {
  description: 'The new value; with `end_grace`, the key without its value.',
});

// Example request and response bodies for the API document.

const defaults = Object.fromEntries(WIRE_NAMES.map((name) => [name, rowAt(name).fallback])) as WireSettings;

export const KEY_EXAMPLE = {
  ...defaults,
  id: 2,
  name: 'web app',
  description: 'for the web team',
  prefix: 'sk-tg-24kV',
  person_id: null,
  member: null,
  status: 'active' as const,
  allowed_models: ['demo-chat'],
  spending_limit: 10,
  spending_current: '0.020084',
  active_hours: '08:00-18:00',
  allowed_origins: ['https://*.example.com'],
  created_at: '2026-11-21T08:00:00.000Z',
  can_manage: false,
  version: 3,
  rpm_limit: 60,
  tpm_limit: 100_000,
  max_parallel_requests: 5,
  last_used_at: '2026-11-21T17:42:07.512Z',
  previous_valid_until: null,
  limits: [LIMIT_EXAMPLE],
};

export const OWN_KEY_EXAMPLE = {
  ...KEY_EXAMPLE,
  account_id: 1,
  limit_remaining: '9.979916',
  period_ends_at: '2026-12-01T00:00:00.000Z',
};

export const CREATED_KEY_EXAMPLE = {
  id: 2,
  name: 'web app',
  prefix: 'sk-tg-24kV',
  key: 'sk-tg-24kV…',
  created_at: '2026-11-21T08:00:00.000Z',
  _service: { note: 'Save this key now. It is not stored and will not be shown again.' },
};

export const ROTATED_KEY_EXAMPLE = {
  ...CREATED_KEY_EXAMPLE,
  prefix: 'sk-tg-9fQz',
  key: 'sk-tg-9fQz…',
  previous_valid_until: '2026-11-22T13:00:00.000Z',
};

export const ROTATION_EXAMPLES = {
  grace: { summary: 'The previous value stays valid for an hour', value: { grace_seconds: 3_600 } },
  at_once: { summary: 'The previous value ends at once', value: {} },
  end: { summary: 'End the previous value, without a new one', value: { end_grace: true } },
};

export const NEW_KEY_EXAMPLES = {
  plain: { summary: 'Without restrictions', value: { name: 'web app', description: 'for the web team' } },
  restricted: {
    summary: 'To be handed out',
    value: {
      name: 'kiosk',
      expires_at: '2030-01-31T12:00:00+01:00',
      allowed_models: ['demo-chat'],
      allowed_categories: ['text'],
      spending_limit: 0.5,
      spending_period: 'daily',
      rpm_limit: 60,
      tpm_limit: 100_000,
      max_parallel_requests: 5,
      active_hours: '22:00-06:00',
      allowed_ips: ['203.0.113.0/24', '2001:db8::1'],
      allowed_origins: ['https://kiosk.example.com'],
      blocked_countries: ['KP'],
      webhook_url: 'https://hooks.example.com/credits',
    },
  },
};

export const KEY_PATCH_EXAMPLES = {
  limit: { summary: 'Limit the spending', value: { spending_limit: 10, spending_period: 'monthly' } },
  limits: {
    summary: 'Limit five hours and the month',
    value: {
      spending_limits: [
        { period: '5h', credits: 2 },
        { period: 'monthly', credits: 100 },
      ],
    },
  },
  calls: { summary: 'Limit the calls', value: { rpm_limit: 60, max_parallel_requests: 5, tpm_limit: null } },
  reactivate: { summary: 'Bring a deleted key back', value: { is_active: true } },
  restrict: {
    summary: 'Restrict to pages and hours',
    value: { allowed_origins: ['https://*.example.com'], active_hours: '08:00-18:00' },
  },
};
