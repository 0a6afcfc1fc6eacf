import type { KeyPatchBody, KeyView } from '../../../api/keys/key-view.ts';
import { GatewayError } from '../../../domain/errors.ts';
import {
  ADDRESS,
  LONGEST_DESCRIPTION,
  LONGEST_NAME,
  LONGEST_WEBHOOK_URL,
  ORIGIN,
  TYPES,
} from '../../../domain/key-readers.ts';
import { itemAt, type TypedField } from '../../../domain/key-settings.ts';
import { readValue } from '../../../domain/shape.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { CallLimit } from '../format/call-limits.ts';
import { countryCode } from '../format/countries.ts';
import { limitsOf } from '../format/limits.ts';
import { readAmount } from '../format/read-amount.ts';
import { fromLocalInput } from '../format/time.ts';
import { type ItemKind, type TypedList, taken, wrongIn } from '../ui/typed-list.ts';
import { callLimitOf } from './call-limit-texts.ts';
import { draftOf, type KeyDraft, type KeyErrors, type KeyField, listsOf } from './key-draft.ts';

/** A parsed draft: the request body, and its faults by field, worded for the form. */
export interface ReadDraft {
  readonly body: Required<Omit<KeyPatchBody, 'is_active' | 'can_manage' | 'restrictions_locked'>>;
  readonly errors: KeyErrors;
}

/** Kinds of items whose people type something else than the API takes, or should read another message. */
const OWN_KINDS: Readonly<Partial<Record<TypedField, ItemKind>>> = {
  allowed_ips: { read: ADDRESS.read, wanted: 'an IPv4 or IPv6 address or CIDR range', spaceParts: true },
  allowed_origins: { read: ORIGIN.read, wanted: 'an origin', spaceParts: true },
  blocked_countries: { read: countryCode, wanted: 'the name or code of a country' },
};

/** The kind of the items of each list that is typed. */
export const ITEM_KINDS = listsOf((field): ItemKind => OWN_KINDS[field] ?? itemAt(field));

/** Messages of the form for fields where the API's message would name its own fields and values. */
const WANTED = {
  name: `The name must be one line of 1 to ${LONGEST_NAME} characters.`,
  description: `The note can have at most ${LONGEST_DESCRIPTION} characters.`,
  webhook_url:
    'The webhook URL must be an absolute http or https URL, such as https://example.com/hook, without user name, password ' +
    `or spaces, of at most ${LONGEST_WEBHOOK_URL} characters, or left empty.`,
} as const;

/** Parses a draft by the gateway's own rules; the gateway checks again. */
export function readDraft(draft: KeyDraft): ReadDraft {
  const errors: Partial<Record<KeyField, string>> = {};
  const read = <Value>(field: KeyField, reader: () => Value, instead: Value): Value => {
    try {
      return reader();
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof ApiFailure)) throw error;
      errors[field] = field in WANTED ? WANTED[field as keyof typeof WANTED] : error.message;
      return instead;
    }
  };
  const callLimit = (name: CallLimit) => read(name, () => callLimitOf(draft.callLimits, name), null);
  const body = {
    name: read('name', () => readValue(TYPES.name, draft.name, 'name'), ''),
    description: read(
      'description',
      () => readValue(TYPES.description, draft.description, 'description'),
      '',
    ),
    expires_at: read('expires_at', () => expiryOf(draft), null),
    allowed_categories: draft.categories,
    allowed_models: draft.models,
    ...listsOf((field) =>
      read(field, () => listOf(draft.lists[field], ITEM_KINDS[field]), draft.lists[field].items),
    ),
    active_hours: read('active_hours', () => hoursOf(draft), ''),
    spending_limit: read('spending_limit', () => limitOf(draft), null),
    spending_period: draft.period,
    spending_limits: read('spending_limits', () => limitsOf(draft.moreLimits), []),
    rpm_limit: callLimit('rpm_limit'),
    tpm_limit: callLimit('tpm_limit'),
    max_parallel_requests: callLimit('max_parallel_requests'),
    webhook_url: read(
      'webhook_url',
      () => readValue(TYPES.webhookUrl, draft.webhookUrl.trim(), 'webhook_url'),
      '',
    ),
  };
  return { body, errors };
}

/** Items of a list, with those that are typed and not added yet. Throws where one of these is invalid. */
function listOf(typed: TypedList, kind: ItemKind): readonly string[] {
  const { items, text } = taken(typed, kind);
  if (text !== '') throw unfit(`${wrongIn(text, kind)} Correct or remove it.`);
  return items;
}

/** Body of the PATCH: the fields in which the draft differs from the key. */
export function changesOf(draft: KeyDraft, key: KeyView, { body }: ReadDraft): KeyPatchBody {
  const before = readDraft(draftOf(key)).body;
  const changed = Object.entries(body).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof typeof before]),
  );
  return {
    ...(Object.fromEntries(changed) as KeyPatchBody),
    ...(draft.canManage === undefined || draft.canManage === key.can_manage
      ? {}
      : { can_manage: draft.canManage }),
  };
}

/** `HH:MM-HH:MM` of the two times; an end of 00:00 is the end of the day, 24:00. */
export function hoursOf(draft: Pick<KeyDraft, 'hasHours' | 'start' | 'end'>): string {
  if (!draft.hasHours) return '';
  const [start, end] = [draft.start.slice(0, 5), draft.end.slice(0, 5)];
  if (start === '' || end === '') throw unfit('Enter both times.');
  if (start === end && start !== '00:00') {
    throw unfit('Start and end must differ. For the whole day, clear the checkbox.');
  }
  return readValue(TYPES.hours, `${start}-${end === '00:00' ? '24:00' : end}`, 'The hours');
}

function limitOf({ hasLimit, limit }: KeyDraft): number | null {
  return hasLimit ? readAmount('The limit', limit, 'spending_limit') : null;
}

function expiryOf({ expires, isExpiryHalf }: KeyDraft): string | null {
  if (isExpiryHalf) throw unfit('The date or time is incomplete. Complete or clear it.');
  if (expires === '') return null;
  const at = fromLocalInput(expires);
  if (at === undefined) throw unfit('Enter a date and a time.');
  return at;
}

function unfit(words: string): ApiFailure {
  return new ApiFailure(0, 'invalid_field', words);
}
