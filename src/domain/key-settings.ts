import { CALL_LIMIT_FIELDS, NO_CALL_LIMITS } from './call-limits.ts';
import { cutShort, GatewayError, invalidField } from './errors.ts';
import { type KeySettings, SPENDING_PERIODS } from './key.ts';
import {
  type FieldReader,
  LONGEST_NAME,
  readBoolean,
  readCallLimit,
  readCategories,
  readCountries,
  readDescription,
  readExpiry,
  readHours,
  readIps,
  readLimit,
  readModels,
  readName,
  readOrigins,
  readWebhookUrl,
  readWord,
} from './key-fields.ts';

type Field = keyof KeySettings;
type Draft = { -readonly [F in Field]?: KeySettings[F] };

type FieldTable = { readonly [F in Field]: readonly [wireName: string, read: FieldReader<KeySettings[F]>] };

/** Every field that create and PATCH take (specification section 2): its name on the wire, and its reader. */
const FIELDS = {
  name: ['name', readName],
  description: ['description', readDescription],
  isActive: ['is_active', readBoolean],
  canManage: ['can_manage', readBoolean],
  expiresAt: ['expires_at', readExpiry],
  allowedModels: ['allowed_models', readModels],
  allowedCategories: ['allowed_categories', readCategories],
  spendingLimit: ['spending_limit', readLimit],
  spendingPeriod: ['spending_period', readWord(SPENDING_PERIODS)],
  rpmLimit: [CALL_LIMIT_FIELDS.rpmLimit, readCallLimit],
  tpmLimit: [CALL_LIMIT_FIELDS.tpmLimit, readCallLimit],
  maxParallelRequests: [CALL_LIMIT_FIELDS.maxParallelRequests, readCallLimit],
  activeHours: ['active_hours', readHours],
  allowedIps: ['allowed_ips', readIps],
  allowedOrigins: ['allowed_origins', readOrigins],
  blockedCountries: ['blocked_countries', readCountries],
  webhookUrl: ['webhook_url', readWebhookUrl],
} as const satisfies FieldTable;

/** Name on the wire of a field that create and PATCH take. */
export type WireName = (typeof FIELDS)[Field][0];

/** A map, so that `__proto__` and `constructor` are unknown fields like any other. */
const FIELD_BY_WIRE_NAME: ReadonlyMap<string, Field> = new Map(
  (Object.keys(FIELDS) as Field[]).map((field) => [FIELDS[field][0], field]),
);

/** Settings of a key whose creation does not say otherwise (specification section 2, "Defaults"). */
export const DEFAULT_SETTINGS: Omit<KeySettings, 'name' | 'canManage'> = Object.freeze({
  description: '',
  isActive: true,
  expiresAt: null,
  allowedModels: [],
  allowedCategories: [],
  spendingLimit: null,
  spendingPeriod: 'monthly',
  ...NO_CALL_LIMITS,
  activeHours: '',
  allowedIps: [],
  allowedOrigins: [],
  blockedCountries: [],
  webhookUrl: '',
});

/**
 * Default of a setting by its name on the wire; undefined where a creation must name it (`name`), or where it follows from
 * the other settings (`can_manage`).
 */
export function defaultOf(wireName: string): unknown {
  const field = FIELD_BY_WIRE_NAME.get(wireName);
  return field === undefined || field === 'name' || field === 'canManage'
    ? undefined
    : DEFAULT_SETTINGS[field];
}

/**
 * The fields that a PATCH body sets, normalised; none that it does not name. Throws `invalid_json` where the body is
 * not an object, and `invalid_field` for the first field that is unknown or wrong.
 */
export function parseKeyPatch(input: unknown): Partial<KeySettings> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new GatewayError('invalid_json', 'The body must be a JSON object with the fields of a key.');
  }
  const draft: Draft = {};
  for (const [wireName, value] of Object.entries(input)) {
    const field = FIELD_BY_WIRE_NAME.get(wireName);
    if (!field) throw unknownField(wireName);
    readInto(draft, field, value);
  }
  return draft;
}

export interface NewKeySettings {
  readonly settings: Omit<KeySettings, 'canManage'>;
  /** Undefined where the request does not say; then it follows from the restrictions. */
  readonly canManage: boolean | undefined;
}

/**
 * The settings that a create body asks for: `name` is required, and a field that is not named gets its default. Throws
 * as parseKeyPatch.
 */
export function parseNewKey(input: unknown): NewKeySettings {
  const { canManage, name, ...rest } = parseKeyPatch(input);
  if (name === undefined)
    throw invalidField('name', `name is required: a line of 1 to ${LONGEST_NAME} characters.`);
  return { settings: { ...DEFAULT_SETTINGS, ...rest, name }, canManage };
}

/** The fields that can restrict a key, as "Who may manage" means it (specification section 2). */
export const RESTRICTION_FIELDS = [
  'allowedModels',
  'allowedCategories',
  'spendingLimit',
  'rpmLimit',
  'tpmLimit',
  'maxParallelRequests',
  'activeHours',
  'allowedIps',
  'allowedOrigins',
  'blockedCountries',
  'expiresAt',
] as const satisfies readonly Field[];

/** Whether settings hold a restricting value: a list with items, a limit (also of 0), hours, or an expiry. */
export function carriesRestriction(settings: Partial<KeySettings>): boolean {
  return RESTRICTION_FIELDS.some((field) => isRestricting(settings[field]));
}

/** Whether a body of create or PATCH, its fields named as on the wire, holds a restricting value. */
export function bodyCarriesRestriction(body: Readonly<Record<string, unknown>>): boolean {
  return RESTRICTION_FIELDS.some((field) => isRestricting(body[FIELDS[field][0]]));
}

function isRestricting(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  return typeof value === 'number';
}

function readInto<F extends Field>(draft: Draft, field: F, value: unknown): void {
  const [wireName, read] = (FIELDS as FieldTable)[field];
  draft[field] = read(wireName, value);
}

function unknownField(name: string): GatewayError {
  const shown = cutShort(name);
  const known = [...FIELD_BY_WIRE_NAME.keys()].join(', ');
  return invalidField(
    shown,
    `${JSON.stringify(shown)} is not a field that can be set. Fields that can: ${known}.`,
  );
}
