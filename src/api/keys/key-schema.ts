import { KEY_FIELDS } from '../../domain/key-fields.ts';
import { fieldAt, KEY_FIELD_NAMES, keyField, type WireSettings } from '../../domain/key-settings.ts';
import {
  balance,
  cursor,
  exactCredits,
  id,
  pageLimit,
  timestamp,
  timestampOrNull,
} from '../openapi/fields.ts';
import { type Schema, Type } from '../openapi/json-type.ts';

/** Every field that create and PATCH take, described. */
const settings = Object.fromEntries(
  KEY_FIELD_NAMES.map((field): [string, Schema] => {
    const { wire, type, help } = KEY_FIELDS[field];
    return [wire, { ...type.schema, description: help }];
  }),
) as { readonly [Name in keyof WireSettings]: Schema<WireSettings[Name]> };

const prefix = Type.String({
  description: 'Start of the key value, which identifies a key without revealing it.',
});

const { name, description, ...others } = settings;

/** A key as the list shows it: its settings, and the read-only fields. */
export const Key = Type.Object(
  {
    id: id('Names the key in paths.'),
    name,
    description,
    prefix,
    ...others,
    spending_current: exactCredits('Spent in the current period.'),
    created_at: timestamp('When the key was created.'),
    version: Type.Integer({
      minimum: 1,
      description: 'Raised by every change of the settings, never by calls; for `If-Match`.',
    }),
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
        'The limit less the spend of the period, at least 0; null: no limit. Holds are not counted.',
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
        description: 'Only if `limit` was sent: send it as `after` for the next page; null: no more.',
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

const { name: _, ...mayBeMissing } = settings;

/** Fields that may be missing when a key is created, with their defaults (specification section 2, "Fields"). */
const optional = Object.fromEntries(
  Object.entries(mayBeMissing).map(([wireName, schema]) => {
    const field = fieldAt(wireName);
    const value = field && keyField(field).fallback;
    return [wireName, value === undefined ? schema : { ...schema, default: value }];
  }),
) as typeof mayBeMissing;

export const NewKeyBody = Type.Object(
  { name, ...Type.Partial(Type.Object(optional)).properties },
  {
    title: 'NewKey',
    description: 'The settings of the new key; `can_manage` is true if it has no restriction.',
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
