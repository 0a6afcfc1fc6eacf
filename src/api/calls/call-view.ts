import type { CallRecord } from '../../book/calls.ts';
import type { KeyNames } from '../../book/names.ts';
import { CALLER_FACTS, eachFact } from '../../domain/caller-facts.ts';
import { creditsString, micro } from '../../domain/credits.ts';
import { type Cell, csvLine } from '../../domain/csv.ts';
import type { RefusalDetail } from '../../domain/errors.ts';
import { CATEGORIES } from '../../domain/key.ts';
import { OUTCOMES } from '../../domain/ledger-entry.ts';
import { timestamp } from '../../domain/period.ts';
import { USAGE_NAMES } from '../../domain/units.ts';
import { type Seen, seesAll } from '../http/seen.ts';
import { RefusingLimit } from '../keys/limit-view.ts';
import { Attempt, attemptsView, UsageSchema, usageView } from '../ledger/entry-view.ts';
import { exactCredits, id, KeyMember, KeyName, orNull, time, words } from '../openapi/fields.ts';
import { type Schema, type Static, Type } from '../openapi/json-type.ts';

export const CALL_OUTCOMES = [...OUTCOMES, 'refused'] as const;

const text = (description: string) => orNull(Type.String(), description);
const optional = (schema: Schema<string>, description: string) => Type.Optional(orNull(schema, description));

/** Facts behind the refusal of a call (specification section 14). */
const Detail = Type.Object(
  {
    ...eachFact((fact) => optional(Type.String(), CALLER_FACTS[fact].help)),
    hold: Type.Optional(exactCredits('Maximum cost of the call.')),
    estimate: Type.Optional(exactCredits('Likely cost of the call.')),
    balance: optional(exactCredits(''), "The account's balance; null for a key that can't manage."),
    held: optional(
      exactCredits(''),
      "Amount that calls in flight have reserved; null for a key that can't manage.",
    ),
    limit: Type.Optional(
      Type.Union([Type.String(), RefusingLimit], {
        description: 'The spending limit that refused the call, or the field of another limit.',
      }),
    ),
    of: Type.Optional(words(['key', 'account'], 'Owner of the limit.')),
    retry_after_ms: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Milliseconds until the limit has room again.' }),
    ),
  },
  { title: 'RefusalDetail' },
);

const CALL = {
  id: Type.String({ description: '`x-request-id` of the call, and the id of its ledger entry.' }),
  created_at: time('When the call arrived.'),
  key_id: orNull(Type.Integer(), 'The key that called.'),
  key_name: KeyName,
  member: KeyMember,
  model: text(
    'Name of the model, or an unknown name as the request gave it; null: refused before the body was read.',
  ),
  category: orNull(Type.Enum(CATEGORIES), 'Category of the model; null: no such model.'),
  endpoint: text('Path of the call.'),
  streamed: orNull(Type.Boolean(), 'Whether the request asked for a stream; null: unknown.'),
  status: orNull(Type.Integer(), 'Status that the client got; 499: it left first.'),
  outcome: orNull(
    Type.Enum(CALL_OUTCOMES),
    'How the call ended; `refused`: the gateway did not send it to a provider. null: its gateway ended first.',
  ),
  code: text("Error code that the client got, the provider's own if the provider refused; null: none."),
  message: text('Error message, at most 300 characters.'),
  param: text('Field that the error names.'),
  charge: exactCredits('Cost of the call; 0 for refused calls.'),
  usage: UsageSchema,
  estimated: Type.Boolean({ description: 'Whether the usage was estimated.' }),
  duration_ms: orNull(Type.Integer(), 'Milliseconds from the first byte of the call to its end.'),
  first_byte_ms: orNull(
    Type.Integer(),
    "Milliseconds from the first byte of the call to the headers of the provider's answer; null: no answer.",
  ),
  upstream: text('Upstream that was called, as the configuration names it.'),
  attempts: Type.Array(Attempt, { description: 'Each try at a provider, including the last.' }),
  user_agent: text('The User-Agent header, at most 300 characters.'),
  detail: orNull(Detail, 'Facts behind a refusal because of the caller, the credits or a limit of calls.'),
  repeated: Type.Integer({
    minimum: 1,
    description:
      'Number of calls in this entry. The first 20 refused calls of one key, code and minute get an entry each; the rest share one.',
  }),
};

/** A model call (specification section 14). */
export const Call = Type.Object(CALL, { title: 'Call', description: 'A model call and its outcome.' });

/** A call in the operator's list of all accounts. */
export const OperatorCall = Type.Object(
  {
    ...CALL,
    account_id: id('The account of the key.'),
    account_email: text("The account's e-mail address."),
    cost: orNull(exactCredits('Cost of the call at the provider.'), 'Null: unknown, or refused.'),
  },
  { title: 'OperatorCall', description: 'A model call of any account and its outcome.' },
);

export const CALL_EXAMPLE: Static<typeof Call> = {
  id: 'req_7Qm2xX4cRn9sKd1V6t',
  created_at: '2026-11-21T14:03:00.000Z',
  key_id: 2,
  key_name: 'backend',
  member: null,
  model: 'demo-chat',
  category: 'text',
  endpoint: '/v1/chat/completions',
  streamed: true,
  status: 403,
  outcome: 'refused',
  code: 'ip_not_allowed',
  message: 'Your IP address 203.0.113.9 is not in the allowed_ips of this API key.',
  param: null,
  charge: '0.000000',
  usage: {},
  estimated: false,
  duration_ms: 1,
  first_byte_ms: null,
  upstream: null,
  attempts: [],
  user_agent: 'OpenAI/Python 2.8.0',
  detail: { ip: '203.0.113.9' },
  repeated: 1,
};

const page = <T extends typeof Call | typeof OperatorCall>(call: T, title: string) =>
  Type.Object(
    {
      calls: Type.Array(call),
      next: orNull(Type.String(), 'Send it as `before` for the next page; null: no more.'),
    },
    { title, description: 'Calls, newest first.' },
  );
export const CallPage = page(Call, 'CallPage');
export const OperatorCallPage = page(OperatorCall, 'OperatorCallPage');

type AnyCall = CallView | OperatorCallView;

const FIRST = [
  'id',
  'created_at',
  'key_id',
  'model',
  'category',
  'endpoint',
  'streamed',
  'status',
  'outcome',
] as const;
const ERROR = [
  'code',
  'message',
  'param',
  'charge',
  'estimated',
  'duration_ms',
  'first_byte_ms',
  'upstream',
] as const;
const LAST = ['user_agent', 'repeated'] as const;
const JSON_CELLS = ['attempts', 'detail'] as const;
const USED = Object.values(USAGE_NAMES);
const NAMES = ['key_name', 'member_id', 'member_name'] as const;

/** CSV header; `isOperators` adds the account. */
export function callsCsvHeader(isOperators: boolean): string {
  return csvLine([
    ...FIRST,
    ...ERROR,
    ...LAST,
    ...JSON_CELLS,
    ...USED,
    ...(isOperators ? ['account_id'] : []),
    ...NAMES,
    ...(isOperators ? ['account_email', 'cost'] : []),
  ]);
}

/** CSV line of a call. Absent values are empty cells; `attempts` and `detail` are JSON. */
export function callsCsvLine(call: AnyCall): string {
  const cells: Cell[] = [...FIRST, ...ERROR, ...LAST].map((name) => call[name]);
  for (const name of JSON_CELLS) cells.push(call[name] && JSON.stringify(call[name]));
  for (const name of USED) cells.push(call.usage[name]);
  if ('account_id' in call) cells.push(call.account_id);
  cells.push(call.key_name, call.member?.id, call.member?.name);
  if ('account_email' in call) cells.push(call.account_email, call.cost);
  return csvLine(cells);
}

/** A model call (specification section 14). */
export type CallView = Static<typeof Call>;
export type CallPageView = Static<typeof CallPage>;
export type OperatorCallView = Static<typeof OperatorCall>;

const NOTHING_CHARGED = creditsString(micro(0));

/** A call with the names of its key. */
export interface NamedCall {
  readonly record: CallRecord;
  /** Undefined: the book no longer has the key. */
  readonly names: KeyNames | undefined;
}

/** Shows a call to a reader. Who sees only own keys doesn't get the account's balance. */
export function callView({ record, names }: NamedCall, reader: Seen): CallView {
  const common = { id: record.id, created_at: timestamp(record.createdAt) };
  const named = { key_name: names?.name ?? null, member: names?.member ?? null };
  if (record.refused) {
    const { keyId, model, category, endpoint, streamed, status, code, message, param, ...rest } =
      record.refused;
    return {
      ...common,
      key_id: keyId,
      ...named,
      model,
      category,
      endpoint,
      streamed,
      status,
      outcome: 'refused',
      code,
      message,
      param,
      charge: NOTHING_CHARGED,
      usage: {},
      estimated: false,
      duration_ms: rest.durationMs,
      first_byte_ms: null,
      upstream: null,
      attempts: [],
      user_agent: rest.userAgent,
      detail: rest.detail && detailView(rest.detail, seesAll(reader)),
      repeated: record.repeated,
    };
  }
  const { entry } = record;
  return {
    ...common,
    key_id: entry.keyId,
    ...named,
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    streamed: entry.streamed ?? null,
    status: entry.status,
    outcome: entry.outcome,
    code: entry.code ?? null,
    message: entry.message ?? entry.note ?? null,
    param: entry.param ?? null,
    charge: creditsString(micro(0 - entry.credits)),
    usage: usageView(entry.usage),
    estimated: entry.estimated,
    duration_ms: entry.durationMs ?? null,
    first_byte_ms: entry.firstByteMs ?? null,
    upstream: entry.upstream ?? null,
    attempts: attemptsView(entry) ?? [],
    user_agent: entry.userAgent ?? null,
    detail: null,
    repeated: 1,
  };
}

/** Adds the account, for the operator. */
export function operatorCallView(call: NamedCall, emails: ReadonlyMap<number, string>): OperatorCallView {
  const { accountId } = call.record.refused ?? call.record.entry;
  const view = callView(call, { onlyKeyId: undefined });
  const cost = call.record.refused ? undefined : call.record.entry.cost;
  return {
    ...view,
    account_id: accountId,
    account_email: emails.get(accountId) ?? null,
    cost: cost === undefined ? null : creditsString(cost),
  };
}

function detailView(detail: RefusalDetail, seesBalance: boolean): NonNullable<CallView['detail']> {
  if (seesBalance || detail.hold === undefined) return detail;
  const { limit } = detail;
  const isHidden = typeof limit === 'object' && limit.of === 'account';
  return {
    ...detail,
    balance: null,
    held: null,
    ...(isHidden ? { limit: { ...limit, spent: null, held: null } } : {}),
  };
}
