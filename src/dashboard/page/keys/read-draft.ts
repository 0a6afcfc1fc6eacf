import type { KeyPatchBody, KeyView } from '../../../api/keys/key-view.ts';
import { MAX_CALL_LIMIT } from '../../../domain/call-limits.ts';
import type { Category, SpendingPeriod } from '../../../domain/key.ts';
import {
  LONGEST_DESCRIPTION,
  LONGEST_NAME,
  LONGEST_WEBHOOK_URL,
  TYPES,
} from '../../../domain/key-readers.ts';
import { rowAt, type WireName } from '../../../domain/key-settings.ts';
import type { LimitPeriod } from '../../../domain/limit-periods.ts';
import { readValue } from '../../../domain/shape.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import { ApiFailure } from '../data/api-failure.ts';
import type { CallLimit } from '../format/call-limits.ts';
import { countryName } from '../format/countries.ts';
import { count, credits } from '../format/credits.ts';
import { readWhole } from '../format/read-whole.ts';
import { fromInput, moment, toInput } from '../format/time.ts';
import { CATEGORY_NAMES } from '../format/words.ts';
import { zoneNow } from '../format/zone.ts';
import { type LimitRow, limitRows, limitWords, readLimitRows } from '../limits/limit-rows.ts';
import { type ReadDraft, readFields } from '../ui/read-fields.ts';
import { type ListField, readItems, shownItems } from './lists.ts';

/** The settings of a key as they are typed, under their names in the API. */
export interface KeyDraft {
  readonly name: string;
  readonly description: string;
  /** Value of a datetime-local input; "" for never. */
  readonly expires_at: string;
  readonly can_manage: boolean;
  readonly restrictions_locked: boolean;
  readonly allowed_categories: readonly Category[];
  readonly allowed_models: readonly string[];
  /** All spending limits; `isPair` marks the one that is `spending_limit` with `spending_period`. */
  readonly spending_limits: readonly LimitRow[];
  /** The stored period, which stays if there is no such limit. */
  readonly spending_period: SpendingPeriod;
  readonly rpm_limit: string;
  readonly tpm_limit: string;
  readonly max_parallel_requests: string;
  readonly allowed_ips: readonly string[];
  readonly allowed_origins: readonly string[];
  readonly blocked_countries: readonly string[];
  readonly active_hours: Hours;
  readonly webhook_url: string;
}

/** Two times `HH:MM` of the UTC day. */
export interface Hours {
  readonly isOn: boolean;
  readonly start: string;
  readonly end: string;
}

export const NEW_KEY: KeyDraft = {
  name: '',
  description: '',
  expires_at: '',
  // A key for an app needs no rights over the account, so they are given explicitly.
  can_manage: false,
  restrictions_locked: false,
  allowed_categories: [],
  allowed_models: [],
  spending_limits: [{ period: 'monthly', credits: '', isPair: true }],
  spending_period: 'monthly',
  rpm_limit: '',
  tpm_limit: '',
  max_parallel_requests: '',
  allowed_ips: [],
  allowed_origins: [],
  blocked_countries: [],
  active_hours: { isOn: false, start: '08:00', end: '18:00' },
  webhook_url: '',
};

/** The draft of a key as it is stored. */
export function draftOf(key: KeyView): KeyDraft {
  const { spending_limit: limit, spending_period: period } = key;
  const pair = limit === null ? [] : [{ period, credits: String(limit), isPair: true }];
  const [start = NEW_KEY.active_hours.start, end = NEW_KEY.active_hours.end] = key.active_hours
    .split('-')
    .filter(Boolean);
  const text = (amount: number | null) => (amount === null ? '' : String(amount));
  return {
    name: key.name,
    description: key.description,
    expires_at: toInput(key.expires_at ?? '', zoneNow()),
    can_manage: key.can_manage,
    restrictions_locked: key.restrictions_locked,
    allowed_categories: key.allowed_categories,
    allowed_models: shownItems('allowed_models', key.allowed_models),
    spending_limits: [...pair, ...limitRows(key.spending_limits)],
    spending_period: period,
    rpm_limit: text(key.rpm_limit),
    tpm_limit: text(key.tpm_limit),
    max_parallel_requests: text(key.max_parallel_requests),
    allowed_ips: shownItems('allowed_ips', key.allowed_ips),
    allowed_origins: shownItems('allowed_origins', key.allowed_origins),
    blocked_countries: shownItems('blocked_countries', key.blocked_countries),
    // A time input has no 24:00, so 00:00 stands for the end of the day.
    active_hours: { isOn: key.active_hours !== '', start, end: end === '24:00' ? '00:00' : end },
    webhook_url: key.webhook_url,
  };
}

/** Parses a draft by the gateway's own rules; the gateway checks again. */
export function readDraft(draft: KeyDraft): ReadDraft<KeyPatchBody> {
  const limits = () => limitsOf(draft);
  const callLimit = (name: CallLimit) => () =>
    draft[name].trim() === ''
      ? null
      : readWhole('The limit', draft[name], name, MAX_CALL_LIMIT, 'Leave empty for none.');
  const list = (field: ListField) => () => readItems(field, draft[field]);
  const { body, faults } = readFields<KeyPatchBody>({
    name: () => readValue(TYPES.name, draft.name, 'name'),
    description: () => readValue(TYPES.description, draft.description, 'description'),
    expires_at: () => expiryOf(draft),
    can_manage: () => draft.can_manage,
    restrictions_locked: () => draft.restrictions_locked,
    allowed_categories: () => draft.allowed_categories,
    allowed_models: list('allowed_models'),
    spending_limit: () => limits().spending_limit,
    spending_period: () => limits().spending_period,
    spending_limits: () => limits().spending_limits,
    rpm_limit: callLimit('rpm_limit'),
    tpm_limit: callLimit('tpm_limit'),
    max_parallel_requests: callLimit('max_parallel_requests'),
    allowed_ips: list('allowed_ips'),
    allowed_origins: list('allowed_origins'),
    blocked_countries: list('blocked_countries'),
    active_hours: () => hoursText(draft.active_hours),
    webhook_url: () => readValue(TYPES.webhookUrl, draft.webhook_url.trim(), 'webhook_url'),
  });
  const { spending_limit: _, spending_period: __, ...others } = faults;
  const worded = Object.entries(others).map(([field, words]) => [field, WANTED[field] ?? words]);
  return { body, faults: Object.fromEntries(worded) };
}

/** Messages of the form for fields where the API's message would name its own fields and values. */
const WANTED: Readonly<Record<string, string>> = {
  name: `The name must be one line of 1 to ${LONGEST_NAME} characters.`,
  description: `The note can have at most ${count(LONGEST_DESCRIPTION)} characters.`,
  webhook_url:
    'The webhook URL must be an absolute http or https URL, such as https://example.com/hook, without user name, password ' +
    `or spaces, of at most ${count(LONGEST_WEBHOOK_URL)} characters, or left empty.`,
};

/** The fields of all spending limits. Throws an ApiFailure that names the field. */
function limitsOf({ spending_limits: rows, spending_period }: KeyDraft) {
  const pair = rows.find(({ isPair, period }) => isPair && isCalendar(period));
  const [first] = pair ? readLimitRows([pair]) : [];
  return {
    spending_limit: first?.credits ?? null,
    spending_period: pair && isCalendar(pair.period) ? pair.period : spending_period,
    spending_limits: readLimitRows(rows.filter((row) => row !== pair)),
  };
}

function isCalendar(period: LimitPeriod): period is SpendingPeriod {
  return period !== '5h' && period !== 'total';
}

/** `HH:MM-HH:MM` of the two times, "" for none; an end of 00:00 is the end of the day, 24:00. */
export function hoursText({ isOn, ...times }: Hours): string {
  if (!isOn) return '';
  const [start, end] = [times.start.slice(0, 5), times.end.slice(0, 5)];
  if (start === '' || end === '') throw unfit('Enter both times.');
  if (start === end && start !== '00:00') {
    throw unfit('Start and end must differ. For the whole day, switch this off.');
  }
  return readValue(TYPES.hours, `${start}-${end === '00:00' ? '24:00' : end}`, 'The hours');
}

function expiryOf({ expires_at: text }: KeyDraft): string | null {
  if (text === '') return null;
  const at = fromInput(text, zoneNow());
  if (at === undefined) throw unfit('Enter a date and a time.');
  return at;
}

function unfit(words: string): ApiFailure {
  return new ApiFailure(0, 'invalid_field', words);
}

/** Parts of a key's page with the fields that each edits. */
export const PARTS = {
  limits: ['spending_limits', 'rpm_limit', 'tpm_limit', 'max_parallel_requests'],
  access: [
    'allowed_models',
    'allowed_categories',
    'allowed_ips',
    'allowed_origins',
    'blocked_countries',
    'active_hours',
  ],
  settings: ['name', 'description', 'expires_at', 'can_manage', 'webhook_url', 'restrictions_locked'],
} as const satisfies Record<string, readonly WireName[]>;
export type Part = keyof typeof PARTS;
export type KeyField = (typeof PARTS)[Part][number];

/** Labels of the fields, in the order of the page. */
export const LABELS = Object.fromEntries(
  [...PARTS.settings, ...PARTS.limits, ...PARTS.access].map((field) => [
    field,
    field === 'spending_limits' ? 'Spending limits' : rowAt(field).label,
  ]),
) as Readonly<Record<KeyField, string>>;

/** Fields whose refusals another field shows. */
export const SHOWN_AT = { spending_limit: 'spending_limits', spending_period: 'spending_limits' } as const;

/** A setting's value in words. */
export function settingWords(field: string, value: unknown): string {
  const { type, none } = rowAt(field as WireName);
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return none;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return type.kind === 'credits' ? credits(value) : count(value);
  if (!Array.isArray(value))
    return type.kind === 'time' ? `${moment(String(value), 'utc', true)} UTC` : String(value);
  if (type.kind === 'limits') return (value as WireLimit[]).map(limitWords).join('\n');
  if (field === 'allowed_categories') return value.map((one) => CATEGORY_NAMES[one] ?? one).join(', ');
  return value.map((one) => (field === 'blocked_countries' ? countryName(one) : one)).join(', ');
}
