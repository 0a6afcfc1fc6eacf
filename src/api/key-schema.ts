import { Type } from 'typebox';
import { CATEGORIES, SPENDING_PERIODS } from '../domain/key.ts';

const timestamp = (description: string) => Type.String({ format: 'date-time', description });
const words = (list: readonly string[]) => Type.Union(list.map((word) => Type.Literal(word)));

const settings = {
  name: Type.String({ minLength: 1, maxLength: 100, description: 'Display name' }),
  description: Type.String({ maxLength: 1000, description: 'Optional note' }),
  is_active: Type.Boolean({ description: 'Whether the key can be used for requests' }),
  can_manage: Type.Boolean({ description: 'Whether the key may create, change and delete keys' }),
  expires_at: Type.Union([timestamp('ISO 8601 with offset'), Type.Null()], {
    description: 'null when the key does not expire',
  }),
  allowed_models: Type.Array(Type.String(), { description: 'Model slugs; empty = all allowed' }),
  allowed_categories: Type.Array(words(CATEGORIES), { description: 'Modalities; empty = all allowed' }),
  spending_limit: Type.Union([Type.Number({ minimum: 0 }), Type.Null()], {
    description: 'Credits per period, at most six decimals; null = unlimited',
  }),
  spending_period: words(SPENDING_PERIODS),
  active_hours: Type.String({ description: 'UTC range HH:MM-HH:MM; empty = always active' }),
  allowed_ips: Type.Array(Type.String(), { description: 'Addresses or CIDR ranges; empty = all allowed' }),
  allowed_origins: Type.Array(Type.String(), { description: 'Browser origins; empty = no restriction' }),
  blocked_countries: Type.Array(Type.String(), { description: 'ISO 3166-1 alpha-2 codes' }),
  webhook_url: Type.String({ maxLength: 2048, description: 'Receives the low-credits alert; empty = none' }),
};

const prefix = Type.String({ description: 'Identifies a key without revealing it' });

/** Seed, "Key (as returned by the list operation)", in its order, and `can_manage` of contract section 2. */
export const Key = Type.Object(
  {
    id: Type.Integer(),
    name: settings.name,
    description: settings.description,
    prefix,
    is_active: settings.is_active,
    expires_at: settings.expires_at,
    allowed_models: settings.allowed_models,
    allowed_categories: settings.allowed_categories,
    spending_limit: settings.spending_limit,
    spending_current: Type.String({ description: 'Credits spent in the current period, six decimals' }),
    spending_period: settings.spending_period,
    active_hours: settings.active_hours,
    allowed_ips: settings.allowed_ips,
    allowed_origins: settings.allowed_origins,
    blocked_countries: settings.blocked_countries,
    webhook_url: settings.webhook_url,
    created_at: timestamp('Creation time'),
    can_manage: settings.can_manage,
  },
  { description: 'The key' },
);

export const KeyList = Type.Object(
  { keys: Type.Array(Key) },
  { description: 'All keys of the account by id, inactive ones included' },
);

/** Seed, "Created-key response object". */
export const CreatedKey = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    prefix,
    key: Type.String({ description: 'The full key value; returned only here' }),
    created_at: timestamp('Creation time'),
    _service: Type.Object({ note: Type.String() }),
  },
  { description: 'The new key, with its value' },
);

export const DeletedKey = Type.Object(
  { deleted: Type.Literal(true) },
  { description: 'The key is inactive' },
);

export const KeyPatch = Type.Partial(Type.Object(settings), { additionalProperties: false });

const { name, ...optional } = settings;
export const NewKeyBody = Type.Object(
  { name, ...Type.Partial(Type.Object(optional)).properties },
  { additionalProperties: false },
);

export const KeyPath = Type.Object({ key_id: Type.Integer({ minimum: 1 }) });
