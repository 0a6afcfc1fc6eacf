import { type Category, SPENDING_PERIODS, type SpendingPeriod } from '../../../domain/key.ts';
import type { KeyView } from '../../../domain/key-view.ts';
import { toLocalInput } from '../format/time.ts';

/** A key as its form holds it: what is typed, before it is read. */
export interface KeyDraft {
  readonly name: string;
  readonly description: string;
  /** Of a datetime-local input; "" for never. */
  readonly expires: string;
  /** Undefined: as the gateway decides. */
  readonly canManage: boolean | undefined;
  readonly categories: readonly Category[];
  readonly models: readonly string[];
  readonly hasLimit: boolean;
  readonly limit: string;
  readonly period: SpendingPeriod;
  readonly hasHours: boolean;
  /** `HH:MM` UTC. */
  readonly start: string;
  readonly end: string;
  readonly ips: readonly string[];
  readonly origins: readonly string[];
  readonly countries: readonly string[];
  readonly webhookUrl: string;
}

/** Names of fields on the wire: what a refusal names. */
export const KEY_FIELDS = [
  'name',
  'description',
  'expires_at',
  'can_manage',
  'allowed_categories',
  'allowed_models',
  'allowed_ips',
  'allowed_origins',
  'blocked_countries',
  'active_hours',
  'spending_limit',
  'spending_period',
  'webhook_url',
] as const;
export type KeyField = (typeof KEY_FIELDS)[number];
export type KeyErrors = Readonly<Partial<Record<KeyField, string>>>;

export const NEW_KEY: KeyDraft = {
  name: '',
  description: '',
  expires: '',
  canManage: undefined,
  categories: [],
  models: [],
  hasLimit: false,
  limit: '',
  period: 'monthly',
  hasHours: false,
  start: '08:00',
  end: '18:00',
  ips: [],
  origins: [],
  countries: [],
  webhookUrl: '',
};

export function draftOf(key: KeyView): KeyDraft {
  const [start = NEW_KEY.start, end = NEW_KEY.end] = key.active_hours.split('-').filter(Boolean);
  return {
    name: key.name,
    description: key.description,
    expires: toLocalInput(key.expires_at),
    canManage: undefined,
    categories: key.allowed_categories as readonly Category[],
    models: key.allowed_models,
    hasLimit: key.spending_limit !== null,
    limit: key.spending_limit === null ? '' : String(key.spending_limit),
    period: SPENDING_PERIODS.find((period) => period === key.spending_period) ?? 'monthly',
    hasHours: key.active_hours !== '',
    start,
    // A time input has no 24:00; the end of the day is its midnight.
    end: end === '24:00' ? '00:00' : end,
    ips: key.allowed_ips,
    origins: key.allowed_origins,
    countries: key.blocked_countries,
    webhookUrl: key.webhook_url,
  };
}
