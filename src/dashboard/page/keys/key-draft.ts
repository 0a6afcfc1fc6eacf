import type { KeyView } from '../../../api/keys/key-view.ts';
import type { Category, SpendingPeriod } from '../../../domain/key.ts';
import { rowAt, type TypedField, WIRE_NAMES, type WireName } from '../../../domain/key-settings.ts';
import { limitsText } from '../../../domain/spending-limits-text.ts';
import { toLocalInput } from '../format/time.ts';
import { EMPTY_LIST, type TypedList } from '../ui/typed-list.ts';
import { type CallLimitTexts, callLimitTexts, NO_LIMIT_TEXTS } from './call-limit-texts.ts';

/** State of a key's form: the text of the inputs before it is parsed. */
export interface KeyDraft {
  readonly name: string;
  readonly description: string;
  /** Value of a datetime-local input; "" for never. */
  readonly expires: string;
  /** True if the date is only partly typed, for which browsers give "" as its value. */
  readonly isExpiryHalf: boolean;
  /** State of the tick; undefined if the gateway decides. */
  readonly canManage: boolean | undefined;
  readonly categories: readonly Category[];
  readonly models: readonly string[];
  readonly hasLimit: boolean;
  readonly limit: string;
  readonly period: SpendingPeriod;
  /** More spending limits as text: `5h=2, monthly=100`. */
  readonly moreLimits: string;
  readonly callLimits: CallLimitTexts;
  readonly hasHours: boolean;
  /** `HH:MM` UTC. */
  readonly start: string;
  readonly end: string;
  /** The lists that are typed item by item. */
  readonly lists: Readonly<Record<TypedField, TypedList>>;
  readonly webhookUrl: string;
}

/** Fields of the form's first section. */
const BASICS = ['name', 'description', 'expires_at', 'can_manage'] as const satisfies readonly WireName[];

/** Names in the API of the form's fields, in the order of the page. A switch beside the form changes `is_active`. */
export const FORM_FIELDS = [
  ...BASICS,
  ...WIRE_NAMES.filter((name) => name !== 'is_active' && !BASICS.some((basic) => basic === name)),
] as readonly Exclude<WireName, 'is_active'>[];
export type KeyField = (typeof FORM_FIELDS)[number];
export type KeyErrors = Readonly<Partial<Record<KeyField, string>>>;

/** Props of every section of the key form. */
export interface KeyFormPart {
  readonly draft: KeyDraft;
  readonly errors: KeyErrors;
  readonly change: (part: Partial<KeyDraft>) => void;
  /** The key as it is stored; undefined for one that is being created. */
  readonly known: KeyView | undefined;
}

/** The fields whose lists are typed item by item. */
export const TYPED_FIELDS = WIRE_NAMES.filter((name): name is TypedField => rowAt(name).typed !== undefined);

/** A value for each of the lists that are typed. */
export function listsOf<T>(at: (field: TypedField) => T): Readonly<Record<TypedField, T>> {
  return Object.fromEntries(TYPED_FIELDS.map((field) => [field, at(field)])) as Record<TypedField, T>;
}

export const NEW_KEY: KeyDraft = {
  name: '',
  description: '',
  expires: '',
  isExpiryHalf: false,
  // A key for an app needs no rights over the account, so they are given explicitly.
  canManage: false,
  categories: [],
  models: [],
  hasLimit: false,
  limit: '',
  period: 'monthly',
  moreLimits: '',
  callLimits: NO_LIMIT_TEXTS,
  hasHours: false,
  start: '08:00',
  end: '18:00',
  lists: listsOf(() => EMPTY_LIST),
  webhookUrl: '',
};

/** The draft of a key as it is stored. */
export function draftOf(key: KeyView): KeyDraft {
  const [start = NEW_KEY.start, end = NEW_KEY.end] = key.active_hours.split('-').filter(Boolean);
  return {
    name: key.name,
    description: key.description,
    expires: toLocalInput(key.expires_at),
    isExpiryHalf: false,
    canManage: undefined,
    categories: key.allowed_categories,
    models: key.allowed_models,
    hasLimit: key.spending_limit !== null,
    limit: key.spending_limit === null ? '' : String(key.spending_limit),
    period: key.spending_period,
    moreLimits: limitsText(key.spending_limits),
    callLimits: callLimitTexts(key),
    hasHours: key.active_hours !== '',
    start,
    // A time input has no 24:00, so 00:00 stands for the end of the day.
    end: end === '24:00' ? '00:00' : end,
    lists: listsOf((field) => ({ items: key[field], text: '' })),
    webhookUrl: key.webhook_url,
  };
}

/** True if two drafts are equal in every typed character. */
export function isSameDraft(one: KeyDraft, other: KeyDraft): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
