import { cutShort, GatewayError, invalidField } from './errors.ts';
import {
  DEFAULT_SETTINGS,
  fieldAt,
  KEY_FIELD_NAMES,
  KEY_FIELDS,
  type KeyField,
  type KeySettings,
  keyField,
  WIRE_NAMES,
} from './key-fields.ts';
import { LONGEST_NAME, MOST_KEY_BYTES } from './key-readers.ts';

/**
 * The fields that a PATCH body sets, normalised; none that it does not name. Throws `invalid_json` where the body is
 * not an object, and `invalid_field` for the first field that is unknown or wrong.
 */
export function parseKeyPatch(input: unknown): Partial<KeySettings> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new GatewayError('invalid_json', 'The request body must be a JSON object of key settings.');
  }
  const draft: { [F in KeyField]?: unknown } = {};
  for (const [wireName, value] of Object.entries(input)) {
    const field = fieldAt(wireName);
    if (!field) throw unknownField(wireName);
    draft[field] = keyField(field).type.read(wireName, value);
  }
  return draft as Partial<KeySettings>;
}

type LongField = {
  [F in KeyField]: (typeof KEY_FIELDS)[F]['isLong'] extends true ? F : never;
}[KeyField];
const LONG_FIELDS = KEY_FIELD_NAMES.filter((field): field is LongField => KEY_FIELDS[field].isLong);
/** Upper bound of the JSON of all other fields: a key can be deactivated or limited however much its account stores. */
export const SHORT_FIELDS_BYTES = 320;

const utf8 = new TextEncoder();

/** Bytes of the settings of a key, as JSON in UTF-8. */
export function settingsBytes(settings: Pick<KeySettings, LongField>): number {
  const fields = LONG_FIELDS.map((field) => [KEY_FIELDS[field].wire, settings[field]]);
  return SHORT_FIELDS_BYTES + utf8.encode(JSON.stringify(Object.fromEntries(fields))).length;
}

/** The 400 `invalid_field` for settings that take too many bytes; `param` is the longest of the fields that were sent. */
export function tooLarge(sent: Partial<KeySettings>, bytes: number): GatewayError {
  const lengthOf = (field: KeyField) => JSON.stringify(sent[field]).length;
  const [longest] = (Object.keys(sent) as KeyField[]).sort((a, b) => lengthOf(b) - lengthOf(a));
  const param = KEY_FIELDS[longest ?? 'name'].wire;
  return invalidField(
    param,
    `With this ${param}, the key's settings take ${bytes} bytes as JSON; the maximum is ${MOST_KEY_BYTES}. Shorten ${param}.`,
  );
}

export interface NewKeySettings {
  readonly settings: Omit<KeySettings, 'canManage'>;
  /** Undefined where the request does not say; then it follows from the restrictions. */
  readonly canManage: boolean | undefined;
}

/**
 * The settings that a create body asks for: `name` is required, and a field that is not named gets its default. Throws
 * as parseKeyPatch, and `invalid_field` for settings of more than MOST_KEY_BYTES.
 */
export function parseNewKey(input: unknown): NewKeySettings {
  const { canManage, name, ...rest } = parseKeyPatch(input);
  if (name === undefined)
    throw invalidField('name', `name is required: one line of 1 to ${LONGEST_NAME} characters.`);
  const settings = { ...DEFAULT_SETTINGS, ...rest, name };
  const bytes = settingsBytes(settings);
  if (bytes > MOST_KEY_BYTES) throw tooLarge(settings, bytes);
  return { settings, canManage };
}

function unknownField(name: string): GatewayError {
  const shown = cutShort(name);
  const known = WIRE_NAMES.join(', ');
  return invalidField(shown, `${JSON.stringify(shown)} is not a writable field. Writable fields: ${known}.`);
}
