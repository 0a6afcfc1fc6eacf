import type { Generated, Selectable } from 'kysely';
import type { ErrorCode } from '../domain/errors.ts';
import type { Category } from '../domain/key.ts';
import type { SettingColumns } from '../domain/key-settings.ts';
import type { EntryType, Outcome } from '../domain/ledger-entry.ts';
import type { UsageColumn } from '../domain/units.ts';
import type { PeopleTables } from './people-tables.ts';

export const DELIVERY_STATUSES = ['delivered', 'failed', 'timeout', 'blocked', 'unknown'] as const;

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Reasons of deliveries that failed; `http_status`: the answer was none of 2xx. */
export const DELIVERY_ERRORS = [
  'dns',
  'refused',
  'reset',
  'timeout',
  'certificate',
  'tls',
  'protocol',
  'blocked',
  'http_status',
] as const;

export type DeliveryError = (typeof DELIVERY_ERRORS)[number];

export type Engine = 'sqlite' | 'postgres';

/**
 * Tables, the same in SQLite and PostgreSQL: amounts are 64-bit integers of micro-credits, times 64-bit integers of
 * milliseconds, booleans 1/0 and lists JSON text, because both engines store these alike.
 */
export interface BookSchema extends PeopleTables {
  identity: IdentityTable;
  gateways: GatewaysTable;
  accounts: AccountsTable;
  keys: KeysTable;
  grants: GrantsTable;
  ledger: LedgerTable;
  refusals: RefusalsTable;
  call_messages: CallMessagesTable;
  rates: RatesTable;
  spend_days: SpendDaysTable;
  spend_hours: SpendHoursTable;
  spend_model_days: SpendModelDaysTable;
  spend_key_months: SpendKeyMonthsTable;
  spend_five_hours: FiveHoursTable;
  alerts: AlertsTable;
  deliveries: DeliveriesTable;
  resources: ResourcesTable;
}

/** Gateways that run, on a book that several can share (gateways.ts). */
interface GatewaysTable {
  id: string;
  redis: string;
  address: string;
  seen_at: number;
}

/** Identity of the book, in one row. */
interface IdentityTable {
  id: string;
  /** `Book.secret` */
  secret: string;
}

/** Call limits (domain/call-limits.ts). */
interface CallLimitColumns {
  rpm_limit: number | null;
  tpm_limit: number | null;
  max_parallel_requests: number | null;
}

interface AccountsTable extends CallLimitColumns {
  id: Generated<number>;
  email: string;
  /** `email` in lower case, computed in the process: lower() differs between the engines beyond ASCII. */
  email_key: string;
  /** Null: its e-mail. */
  name: string | null;
  alert_threshold: number;
  overdraft: Generated<number>;
  /** JSON list of SpendingLimit (domain/spending-limits.ts). */
  spending_limits: Generated<string>;
  is_active: number;
  webhook_secret: string;
  balance: Generated<number>;
  seq: Generated<number>;
  epoch: Generated<number>;
  version: Generated<number>;
  published_version: Generated<number>;
  last_entry_at: number | null;
  /** `last_entry_at` in hours since the epoch, for an index. */
  last_entry_hour: number | null;
  created_at: number;
  updated_at: number;
}

export interface KeysTable extends SettingColumns {
  id: Generated<number>;
  account_id: number;
  hash: string;
  prefix: string;
  /** SHA-256 (hex) of the previous value, while it remains valid. */
  previous_hash: string | null;
  previous_valid_until: number | null;
  /** JSON: SHA-256 (hex) of the values that the last two rotations replaced, newest first; Redis has them too. */
  replaced_hashes: string | null;
  /** Null: the key is the account's. */
  person_id: number | null;
  /** JSON list of SpendingLimit: a copy of those of the person's membership. */
  member_limits: Generated<string>;
  /** Size of the settings as JSON in UTF-8 (`settingsBytes`). */
  bytes: number;
  version: Generated<number>;
  published_version: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** Micro-credits spent in the last five hours of an owner (five-hours.ts). */
export interface FiveHoursTable {
  account_id: number;
  /** 0: the account's own; below 0: minus the id of a person, for all keys of the person in the account. */
  key_id: number;
  /** Milliseconds since the epoch. */
  start: number;
  credits: number;
}

interface GrantsTable {
  id: string;
  account_id: number;
  amount: number;
  type: 'top_up' | 'adjustment';
  note: string;
  idempotency_key: string | null;
  state: 'pending' | 'posted';
  balance_after: number | null;
  created_at: number;
}

interface LedgerTable {
  account_id: number;
  seq: number;
  id: string;
  epoch: number;
  type: EntryType;
  created_at: number;
  day: number;
  key_id: number | null;
  model: string | null;
  category: Category | null;
  endpoint: string | null;
  status: number | null;
  outcome: Outcome | null;
  usage: string;
  estimated: number;
  credits: number;
  balance_after: number;
  note: string | null;
  /** Time the call was received; null for entries other than calls. */
  started_at: number | null;
  /** Error code sent to the client; null: none. */
  code: string | null;
  /** Upstream of a call or its refund. */
  upstream: string | null;
  /** JSON of the other fields of calls and their refunds (`CallFields` in ledger.ts); absent fields are unknown. */
  call: string | null;
}

/** Calls refused by the gateway, removed after a time. */
export interface RefusalsTable {
  n: Generated<number>;
  id: string;
  account_id: number;
  key_id: number;
  created_at: number;
  /** UTC minute of `created_at`, since the epoch. */
  minute: number;
  /** 1: the entry covers all calls of its key, code and minute without separate entries. */
  is_rest: number;
  /** Number of calls that the entry covers. */
  repeated: number;
  model: string | null;
  category: Category | null;
  endpoint: string;
  streamed: number | null;
  status: number;
  code: ErrorCode;
  /** JSON of the other fields (`PackedFields` in refusals.ts). */
  told: string;
}

/** Error messages of calls in the ledger, removed after a time, because a provider may quote the prompt. */
interface CallMessagesTable {
  /** The ledger entry. */
  id: string;
  created_at: number;
  message: string;
}

/** Latest times of what an account may do only so often (rates.ts). */
interface RatesTable {
  account_id: number;
  kind: string;
  /** JSON list of milliseconds since the epoch. */
  times: string;
}

interface SpendSums extends Record<UsageColumn, number> {
  calls: number;
  /** The part of `calls` that failed. */
  failed: number;
  /** Calls refused by the gateway; not in `calls`. */
  refused: number;
  /** Micro-credits spent; positive. */
  credits: number;
  /** Provider cost in micro-credits of calls at list prices. */
  cost: number;
  /** The part of `credits` charged for those calls. */
  costed: number;
}

interface SpendDaysTable extends SpendSums {
  account_id: number;
  key_id: number;
  /** Model; "" if an entry names none. */
  model: string;
  day: number;
  /** Upstream; "" if an entry names none, and in sums from before it was stored. */
  upstream: string;
}

/** Sums of an hour (since the epoch). */
interface SpendHoursTable extends SpendSums {
  account_id: number;
  hour: number;
  key_id: number;
  model: string;
  upstream: string;
}

/** Sums of a day over all keys: few rows for any number of keys. */
interface SpendModelDaysTable extends SpendSums {
  account_id: number;
  day: number;
  model: string;
  /** Upstream; "" if an entry names none. */
  upstream: string;
}

/** Sums of a key over all models and the days of a month, identified by its first day. */
interface SpendKeyMonthsTable extends SpendSums {
  account_id: number;
  month: number;
  key_id: number;
}

export interface AlertsTable {
  id: Generated<number>;
  account_id: number;
  /** The ledger entry that crossed the threshold; null for a test alert. */
  entry_id: string | null;
  created_at: number;
  credits_balance: number;
  test: number;
  state: 'queued' | 'claimed';
  claimed_at: number | null;
  /** The key that requested a test alert; null for others. */
  key_id: number | null;
}

export interface DeliveriesTable {
  id: Generated<number>;
  alert_id: number;
  key_id: number;
  url: string;
  status: DeliveryStatus;
  http_status: number | null;
  /** Why it failed. */
  error: DeliveryError | null;
  duration_ms: number | null;
  attempted_at: number;
}

/** Provider resources (ProviderResource) and their owners. */
export interface ResourcesTable {
  account_id: number;
  upstream: string;
  id: string;
  kind: string;
  key_id: number;
  model: string;
  tokens: number | null;
  created_at: number;
  /** Ledger id of the call that created it. */
  charge_id: string;
  deleted_at: number | null;
}

export type AccountRow = Selectable<AccountsTable>;
export type KeyRow = Selectable<KeysTable>;
export type GrantRow = Selectable<GrantsTable>;
export type LedgerRow = Selectable<LedgerTable>;
export type RefusalRow = Selectable<RefusalsTable>;
