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
    id: id('Id of the key.'),
    name,
    description,
    prefix,
    ...others,
    spending_current: exactCredits('Spend in the current period.'),
    created_at: timestamp('When the key was created.'),
    version: Type.Integer({
      minimum: 1,
      description: 'Rises with every change of the settings, never with calls. Send it in `If-Match`.',
    }),
    last_used_at: timestampOrNull(
      'Time of the latest call with a row in the ledger, successful or not; null: none.',
    ),
    previous_valid_until: timestampOrNull(
      'End of the grace of the previous value; null: no previous value is valid.',
    ),
  },
  { title: 'Key', description: 'A key, without its value.' },
);

/** A key as it sees itself (specification section 2, "What a key sees"). */
export const OwnKey = Type.Object(
  {
    ...Key.properties,
    limit_remaining: Type.Union([exactCredits('The rest of the limit.'), Type.Null()], {
      description: 'Limit less the spend of the period, at least 0; null: no limit. Holds do not count.',
    }),
    period_ends_at: timestamp('End of the current period.'),
    credits_balance: Type.Optional(balance('Balance of the account; only for a key that can manage.')),
  },
  { title: 'OwnKey', description: 'The calling key, with the rest of its limit.' },
);

export const KeyList = Type.Object(
  {
    keys: Type.Array(Key),
    next: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Send it as `after` for the next page; null: no more. Absent without `limit`.',
      }),
    ),
  },
  { title: 'KeyList', description: 'Keys by ascending id, including inactive ones.' },
);

export const KeyListQuery = Type.Object({
  limit: pageLimit('Number of keys per page. Default: all keys.'),
  after: cursor('`next` of the previous page: only keys with higher ids.'),
});

/** Answer to the creation of a key, the only one that shows its value (specification section 2). */
export const CreatedKey = Type.Object(
  {
    id: id('Id of the key.'),
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
  { deleted: Type.Literal(true, { description: 'The key is inactive.' }) },
  { title: 'DeletedKey', description: 'The key is inactive.' },
);

export const KeyPatch = Type.Partial(Type.Object(settings), {
  title: 'KeyPatch',
  description: 'The fields to change; others stay as they are.',
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
