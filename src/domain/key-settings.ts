import { type GatewayError, invalidField } from './errors.ts';
import { KEY_FIELDS, type KeyField, type KeyFields, type Restriction, type Setting } from './key-fields.ts';
import { type FieldType, type Item, type Kind, MOST_KEY_BYTES } from './key-readers.ts';
import {
  type MaybeField,
  maybe,
  number,
  type OptionalField,
  optional,
  orNull,
  type Parsed,
  readBody,
  required,
  type Sent,
  section,
} from './shape.ts';

type ValueOf<F extends KeyField> = Parsed<KeyFields[F]['type']>;

/** The fields that create and PATCH can set, normalized. */
export type KeySettings = { readonly [F in KeyField]: ValueOf<F> };

/** Name of a field in the API. */
export type WireName = KeyFields[KeyField]['wire'];
type FieldAt<W extends WireName> = {
  [F in KeyField]: KeyFields[F]['wire'] extends W ? F : never;
}[KeyField];

/** The fields in the API: times are text, credits are numbers. */
export type WireSettings = { readonly [W in WireName]: Sent<KeyFields[FieldAt<W>]['type']> };

/** A value in the book: flags are 1 or 0, lists are JSON text. */
type Column<F extends KeyField> = KeyFields[F]['type']['kind'] extends 'flag'
  ? number
  : KeyFields[F]['type']['kind'] extends 'list' | 'limits'
    ? string
    : ValueOf<F>;
/** The columns of the fields in the book. */
export type SettingColumns = { [W in WireName]: Column<FieldAt<W>> };

/** Names in the API of the fields with a value of `restricts`. */
type Restricting<R> = {
  [F in KeyField]: KeyFields[F] extends { readonly restricts: R } ? KeyFields[F]['wire'] : never;
}[KeyField];
/** Restrictions that apply to every request of the key, including those to `/api/`. */
export type CallerRestriction = Restricting<'caller'>;
export type ModelRestriction = Restricting<'model'>;

/** List fields that the page shows as items to type. */
export type TypedField = {
  [F in KeyField]: KeyFields[F] extends { readonly typed: object } ? KeyFields[F]['wire'] : never;
}[KeyField];

export const KEY_FIELD_NAMES = Object.keys(KEY_FIELDS) as readonly KeyField[];

/** The row of a field, with every column. */
export function keyField(field: KeyField): (Restriction | Setting) & {
  readonly wire: WireName;
  readonly type: FieldType<KeySettings[KeyField], Kind, unknown>;
} {
  return KEY_FIELDS[field];
}

/** A map, so that `__proto__` and `constructor` are unknown fields like any other. */
const FIELD_AT: ReadonlyMap<string, KeyField> = new Map(
  KEY_FIELD_NAMES.map((field) => [KEY_FIELDS[field].wire, field]),
);

/** The field by its name in the API; undefined for an unknown name. */
export function fieldAt(wireName: string): KeyField | undefined {
  return FIELD_AT.get(wireName);
}

/** Names in the API, in the order of the table. */
export const WIRE_NAMES: readonly WireName[] = KEY_FIELD_NAMES.map((field) => KEY_FIELDS[field].wire);

/** The row of a field by its name in the API. */
export function rowAt(wireName: WireName): ReturnType<typeof keyField> {
  return keyField(FIELD_AT.get(wireName) as KeyField);
}

/** The items of a list that is typed. */
export function itemAt(name: TypedField): Item {
  return rowAt(name).type.item as Item;
}

/** KeyFields with a fallback. */
type Defaulted = {
  [F in KeyField]: KeyFields[F] extends { readonly fallback: unknown } ? F : never;
}[KeyField];

/** Default settings of a new key (specification section 2, "Defaults"). */
export const DEFAULT_SETTINGS: Pick<KeySettings, Defaulted> = Object.freeze(
  Object.fromEntries(
    KEY_FIELD_NAMES.flatMap((field) => {
      const { fallback } = keyField(field);
      return fallback === undefined ? [] : [[field, fallback]];
    }),
  ) as Pick<KeySettings, Defaulted>,
);

const RESTRICTIONS = KEY_FIELD_NAMES.filter((field) => KEY_FIELDS[field].restricts);

/** True if settings contain a restricting value: a list with items, a limit (even 0), hours, or an expiry. */
export function carriesRestriction(settings: Partial<KeySettings>): boolean {
  return RESTRICTIONS.some((field) => isRestricting(settings[field]));
}

/** The same for a body of create or PATCH. */
export function bodyCarriesRestriction(body: Readonly<Record<string, unknown>>): boolean {
  return RESTRICTIONS.some((field) => isRestricting(body[KEY_FIELDS[field].wire]));
}

function isRestricting(value: unknown): boolean {
  if (typeof value === 'string' || Array.isArray(value)) return value.length > 0;
  return typeof value === 'number';
}

/** The fields as parts of a PATCH body. */
export const PATCHED = Object.fromEntries(
  KEY_FIELD_NAMES.map((field) => [
    KEY_FIELDS[field].wire,
    maybe(keyField(field).type, KEY_FIELDS[field].help),
  ]),
) as unknown as { readonly [W in WireName]: MaybeField<ValueOf<FieldAt<W>>, WireSettings[W]> };

export const KeyPatch = section(PATCHED, {
  title: 'KeyPatch',
  description: 'The fields to change; others stay as they are.',
});

/** Returns only the fields that a PATCH body sets, normalized. Throws `invalid_json` and `invalid_field`. */
export function parseKeyPatch(body: unknown): Partial<KeySettings> {
  return readBody(KeyPatch, body);
}

type LongField = {
  [F in KeyField]: (typeof KEY_FIELDS)[F]['isLong'] extends true ? F : never;
}[KeyField];
const LONG_FIELDS = KEY_FIELD_NAMES.filter((field): field is LongField => KEY_FIELDS[field].isLong);
/** Upper bound of the JSON of all other fields. A key can be deactivated or limited however much its account stores. */
export const SHORT_FIELDS_BYTES = 640;

const utf8 = new TextEncoder();

/** Bytes of the settings of a key, as JSON in UTF-8. */
export function settingsBytes(settings: Pick<KeySettings, LongField>): number {
  const fields = LONG_FIELDS.map((field) => [KEY_FIELDS[field].wire, settings[field]]);
  return SHORT_FIELDS_BYTES + utf8.encode(JSON.stringify(Object.fromEntries(fields))).length;
}

/** 400 `invalid_field` for oversized settings; `param` is the longest field sent. */
export function tooLarge(sent: Partial<KeySettings>, bytes: number): GatewayError {
  const lengthOf = (field: KeyField) => JSON.stringify(sent[field]).length;
  const [longest] = (Object.keys(sent) as KeyField[]).sort((a, b) => lengthOf(b) - lengthOf(a));
  const param = KEY_FIELDS[longest ?? 'name'].wire;
  return invalidField(
    param,
    `With this ${param}, the key's settings take ${bytes} bytes as JSON; the maximum is ${MOST_KEY_BYTES}. Shorten ${param}.`,
  );
}

/** A create body: `name` is required, other missing fields get their defaults. */
export const NewKey = section(
  {
    ...PATCHED,
    ...(Object.fromEntries(
      KEY_FIELD_NAMES.flatMap((field) => {
        const { wire, type, help, fallback } = keyField(field);
        return fallback === undefined ? [] : [[wire, optional(type, fallback, help)]];
      }),
    ) as {
      readonly [F in Defaulted as KeyFields[F]['wire']]: OptionalField<
        ValueOf<F>,
        Sent<KeyFields[F]['type']>
      >;
    }),
    name: required(KEY_FIELDS.name.type, KEY_FIELDS.name.help),
    person_id: maybe(
      orNull(number(1)),
      'Id of an active member whose key it is, from an owner, an admin, a managing key or the operator. null: the ' +
        "account's. Default: the caller's with the role `member`, else null.",
    ),
  },
  {
    title: 'NewKey',
    description: 'The settings of the new key; `can_manage` is true if it has no restriction.',
  },
);

/** Reads a create body. Throws as parseKeyPatch, and `invalid_field` for settings of more than MOST_KEY_BYTES. */
export function parseNewKey(body: unknown): Parsed<typeof NewKey> {
  const settings = readBody(NewKey, body);
  const bytes = settingsBytes(settings);
  if (bytes > MOST_KEY_BYTES) throw tooLarge(settings, bytes);
  return settings;
}
