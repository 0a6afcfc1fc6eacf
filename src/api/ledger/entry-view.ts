import type { KeyNames } from '../../book/names.ts';
import { type ChargePart, chargeParts } from '../../domain/charge-parts.ts';
import { creditsNumber, creditsString, micro } from '../../domain/credits.ts';
import { csvLine } from '../../domain/csv.ts';
import { CATEGORIES } from '../../domain/key.ts';
import {
  type AppliedPass,
  type AppliedUnits,
  ENTRY_TYPES,
  type LedgerEntry,
  OUTCOMES,
} from '../../domain/ledger-entry.ts';
import { timestamp } from '../../domain/period.ts';
import { TIMES_ONE } from '../../domain/price.ts';
import { UNIT_NAMES, UNITS, type Unit, USAGE_NAMES, type Usage, type UsageName } from '../../domain/units.ts';
import { type Seen, seesAll } from '../http/seen.ts';
import { exactCredits, KeyMember, KeyName, orNull, time, words } from '../openapi/fields.ts';
import { type Schema, type Static, Type } from '../openapi/json-type.ts';

const count = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
const COUNTS = Object.fromEntries(
  Object.values(UNITS).map(({ wire, help }) => [wire, count(help.used)]),
) as Record<UsageName, ReturnType<typeof count>>;

/** Usage of a call by unit; absent units were not used. */
export const UsageSchema = Type.Object(COUNTS, {
  title: 'Usage',
  description: 'Usage by unit; absent units were not used.',
});

/** One property for each price unit, all with the same schema. */
const eachUnit = <T>(schema: Schema<T>) =>
  Object.fromEntries(UNIT_NAMES.map((unit) => [unit, schema])) as Record<Unit, Schema<T>>;
const ofCall = 'null: not a call.';

/** Applied unit prices. */
const Applied = Type.Partial(Type.Object(eachUnit(Type.Number())));

/** An attempt of a call (specification section 12). */
export const Attempt = Type.Object(
  {
    target: Type.String({
      description: "The upstream's name in the configuration; `name#2` is its second credential.",
    }),
    status: orNull(Type.Integer(), 'Status of its answer; null: no answer.'),
    ms: Type.Integer({
      minimum: 0,
      description: 'Milliseconds from sending until the try failed or the call ended.',
    }),
    usage: Type.Optional(UsageSchema),
  },
  {
    title: 'Attempt',
    description: 'One try of a call at a provider. `usage` of a failed try is not charged.',
  },
);

/** An entry of the ledger (specification section 7, "Ledger entry"). */
export const Entry = Type.Object(
  {
    id: Type.String({
      description: '`x-request-id` of the call, or the id of another change of the balance.',
    }),
    type: words(
      ENTRY_TYPES,
      '`charge`: a call, even if it cost 0. `top_up`, `adjustment`: by the operator. `refund`: for a failed job. ' +
        '`expired_hold`: a call whose gateway died; it cost 0.',
    ),
    created_at: time('Time of the entry.'),
    key_id: orNull(Type.Integer(), `The key that called; ${ofCall}`),
    key_name: KeyName,
    member: KeyMember,
    model: orNull(Type.String(), `The model; ${ofCall}`),
    category: orNull(Type.Enum(CATEGORIES), `Category of the model; ${ofCall}`),
    endpoint: orNull(Type.String(), `Path of the call; ${ofCall}`),
    status: orNull(Type.Integer(), `Status that the client got; 499: it left first; ${ofCall}`),
    outcome: orNull(Type.Enum(OUTCOMES), `How the call ended; ${ofCall}`),
    usage: UsageSchema,
    estimated: Type.Boolean({
      description: 'Whether the usage was estimated, because the provider reported none.',
    }),
    credits: exactCredits('Signed amount: a charge is negative.'),
    balance_after: orNull(
      exactCredits('Balance after the entry.'),
      "Balance after the entry; null for a key that can't manage.",
    ),
    note: orNull(
      Type.String(),
      "The operator's comment on a top-up or adjustment, or the gateway's on an expired hold; null: none.",
    ),
    price: orNull(
      Applied,
      'Unit prices that were applied, in credits: per 1,000,000 tokens or characters, per 1,000 searches, per image, ' +
        `second or request. credits = -(tokens, characters and seconds x price x multiplier + images, searches and requests x price), ` +
        `rounded up to a micro-credit; ${ofCall}`,
    ),
    passes: Type.Optional(
      Type.Array(Type.Object({ usage: UsageSchema, price: Applied }), {
        description:
          "The model's passes over its input, if they reached different length tiers. `usage` is their sum and `price` " +
          'that of the longest; `credits` is the sum over the passes.',
      }),
    ),
    multiplier: orNull(
      Type.Number(),
      `Factor of the service tier on everything but fees (images, searches, requests). 1: no tier, 0: the provider bills only fees; ${ofCall}`,
    ),
    upstream: orNull(Type.String(), `Upstream that was called, as the configuration names it; ${ofCall}`),
    attempts: orNull(
      Type.Array(Attempt),
      `Each try at one of the model's targets, including the last; ${ofCall}`,
    ),
    duration_ms: orNull(
      Type.Integer(),
      `Milliseconds from the first byte of the call until it was settled; ${ofCall}`,
    ),
    first_byte_ms: orNull(
      Type.Integer(),
      "Milliseconds from the first byte of the call to the headers of the provider's answer; null: no answer.",
    ),
    streamed: orNull(Type.Boolean(), `Whether the answer was a stream; ${ofCall}`),
  },
  { title: 'LedgerEntry', description: 'One change of the balance.' },
);

const Part = Type.Object(
  {
    unit: words(
      [...UNIT_NAMES, 'rounding'],
      'Unit of `price`; `rounding`: what rounding up to a micro-credit adds, once over all units.',
    ),
    used: orNull(Type.Number({ minimum: 0 }), 'Units used; null: rounding.'),
    price: orNull(Type.Number({ minimum: 0 }), 'Credits for `per` units; null: rounding.'),
    per: orNull(Type.Integer({ minimum: 1 }), 'Units that the price is for; null: rounding.'),
    multiplier: orNull(Type.Number(), 'Factor of the service tier, 1 for fees; null: rounding.'),
    credits: Type.String({
      pattern: '^-?\\d+\\.\\d{6,24}$',
      description: 'used x price / per x multiplier, in credits, exact: at least six decimals.',
    }),
  },
  { title: 'ChargePart' },
);

/** An entry read by its id. */
export const ReadEntry = Type.Object(
  {
    ...Entry.properties,
    parts: Type.Optional(
      orNull(Type.Array(Part), `With \`parts=true\`: what adds up to \`sum\` exactly; ${ofCall}`),
    ),
    sum: Type.Optional(
      orNull(
        exactCredits('The charge: `credits` without its sign.'),
        `With \`parts=true\`: the charge; ${ofCall}`,
      ),
    ),
  },
  { title: 'ReadLedgerEntry', description: 'One change of the balance; a charge with its parts.' },
);

export const ENTRY_EXAMPLE: Static<typeof Entry> = {
  id: 'req_3Jk0vX2bQm8tLw5Z2r',
  type: 'charge',
  created_at: '2026-11-21T08:00:00.000Z',
  key_id: 2,
  key_name: 'backend',
  member: null,
  model: 'demo-chat',
  category: 'text',
  endpoint: '/v1/chat/completions',
  status: 200,
  outcome: 'complete',
  usage: { input_tokens: 8, output_tokens: 17, requests: 1 },
  estimated: false,
  credits: '-0.010042',
  balance_after: '999.989958',
  note: null,
  price: { input: 1, output: 2, request: 0.01 },
  multiplier: 1,
  upstream: 'demo',
  attempts: [{ target: 'demo', status: 200, ms: 412 }],
  duration_ms: 412,
  first_byte_ms: 409,
  streamed: false,
};

export const READ_ENTRY_EXAMPLE: Static<typeof ReadEntry> = {
  ...ENTRY_EXAMPLE,
  parts: [
    { unit: 'input', used: 8, price: 1, per: 1_000_000, multiplier: 1, credits: '0.000008' },
    { unit: 'output', used: 17, price: 2, per: 1_000_000, multiplier: 1, credits: '0.000034' },
    { unit: 'request', used: 1, price: 0.01, per: 1, multiplier: 1, credits: '0.010000' },
  ],
  sum: '0.010042',
};

export const EntryPage = Type.Object(
  {
    entries: Type.Array(Entry),
    next: orNull(Type.String(), 'Send it as `before` for the next page; null: no more.'),
  },
  { title: 'LedgerPage', description: 'Entries, newest first; the sum of all is the balance.' },
);

export const EntryPath = Type.Object({
  entry_id: Type.String({ description: 'Id of the entry.', examples: [ENTRY_EXAMPLE.id] }),
});

/** A ledger entry (specification section 7). */
export type EntryView = Static<typeof Entry>;
/** An entry read by its id: a charge with its parts. */
export type ReadEntryView = Static<typeof ReadEntry>;
export type ChargePartView = NonNullable<ReadEntryView['parts']>[number];
/** A page of a ledger, newest first. */
export type EntryPageView = Static<typeof EntryPage>;
/** Usage under the names for clients. */
export type UsageView = EntryView['usage'];
/** Credits by unit: per 1,000,000 tokens or characters, per 1,000 searches, per image, second or request. */
type PriceView = NonNullable<EntryView['price']>;

const DIMENSIONS = Object.entries(USAGE_NAMES) as [keyof Usage, UsageName][];

/** Usage under the names for clients; absent units stay absent. */
export function usageView(usage: Usage): UsageView {
  const view: { -readonly [Name in UsageName]?: number } = {};
  for (const [dimension, name] of DIMENSIONS) {
    const amount = usage[dimension];
    if (amount !== undefined) view[name] = amount;
  }
  return view;
}

/** Shows an entry to a reader. Who sees only own keys doesn't get the account's balance. */
export function entryView(entry: LedgerEntry, reader: Seen, names: KeyNames | undefined): EntryView {
  return {
    id: entry.id,
    type: entry.type,
    created_at: timestamp(entry.createdAt),
    key_id: entry.keyId,
    key_name: names?.name ?? null,
    member: names?.member ?? null,
    model: entry.model,
    category: entry.category,
    endpoint: entry.endpoint,
    status: entry.status,
    outcome: entry.outcome,
    usage: usageView(entry.usage),
    estimated: entry.estimated,
    credits: creditsString(entry.credits),
    balance_after: seesAll(reader) ? creditsString(entry.balanceAfter) : null,
    note: entry.note ?? null,
    price: entry.price ? priceView(entry.price) : null,
    ...(entry.passes ? { passes: entry.passes.map(passView) } : {}),
    multiplier: entry.price ? (entry.multiplier ?? TIMES_ONE) / TIMES_ONE : null,
    upstream: entry.upstream ?? null,
    attempts: attemptsView(entry),
    duration_ms: entry.durationMs ?? null,
    first_byte_ms: entry.firstByteMs ?? null,
    streamed: entry.streamed ?? null,
  };
}

/** Shows an entry with the parts of its charge. */
export function readEntryView(entry: LedgerEntry, reader: Seen, names: KeyNames | undefined): ReadEntryView {
  const parts = chargeParts(entry);
  return {
    ...entryView(entry, reader, names),
    parts: parts?.map(partView) ?? null,
    sum: parts ? creditsString(micro(-entry.credits)) : null,
  };
}

function partView(part: ChargePart): ChargePartView {
  if (part.unit === 'rounding') return { used: null, price: null, per: null, multiplier: null, ...part };
  return { ...part, price: creditsNumber(part.price), multiplier: part.multiplier / TIMES_ONE };
}

/** A single attempt with the entry's status is not stored. */
export function attemptsView({
  type,
  attempts,
  upstream,
  status,
  durationMs = 0,
}: LedgerEntry): EntryView['attempts'] {
  if (type !== 'charge' || upstream === undefined) return null;
  if (!attempts) return [{ target: upstream, status, ms: durationMs }];
  return attempts.map(({ usage, ...attempt }) => ({
    ...attempt,
    ...(usage ? { usage: usageView(usage) } : {}),
  }));
}

function passView({ usage, price }: AppliedPass): NonNullable<EntryView['passes']>[number] {
  return { usage: usageView(usage), price: priceView(price) };
}

function priceView(price: AppliedUnits): PriceView {
  return Object.fromEntries(Object.entries(price).map(([unit, amount]) => [unit, creditsNumber(amount)]));
}

type Column = Exclude<keyof EntryView, 'usage' | 'member'> | 'member_id' | 'member_name' | UsageName;

const NAMES = Object.values(USAGE_NAMES);

/** Columns in order of introduction, so that each keeps its place. Other usage dimensions follow. */
const ORDERED = [
  'id',
  'type',
  'created_at',
  'key_id',
  'model',
  'category',
  'endpoint',
  'status',
  'outcome',
  'estimated',
  'credits',
  'balance_after',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'cache_write_tokens',
  'characters',
  'images',
  'audio_seconds',
  'video_seconds',
  'requests',
  'note',
  'price',
  'multiplier',
  'upstream',
  'duration_ms',
  'streamed',
  'cache_write_1h_tokens',
  'input_audio_tokens',
  'cached_input_audio_tokens',
  'output_audio_tokens',
  'input_image_tokens',
  'cached_input_image_tokens',
  'output_image_tokens',
  'web_searches',
  'web_search_previews',
  'passes',
  'attempts',
  'first_byte_ms',
  'key_name',
  'member_id',
  'member_name',
] as const satisfies readonly Column[];
const COLUMNS: readonly Column[] = [
  ...ORDERED,
  ...NAMES.filter((name) => !ORDERED.some((column) => column === name)),
];

/** Usage columns in export order. */
export const USAGE_CSV_COLUMNS = COLUMNS.filter(isUsage);

const CELLS = COLUMNS.map((column): ((entry: EntryView) => string | number | boolean | null | undefined) => {
  if (isUsage(column)) return ({ usage }) => usage[column];
  if (column === 'member_id') return ({ member }) => member?.id;
  if (column === 'member_name') return ({ member }) => member?.name;
  if (column !== 'price' && column !== 'passes' && column !== 'attempts') return (entry) => entry[column];
  return (entry) => entry[column] && JSON.stringify(entry[column]);
});

function isUsage(column: Column): column is UsageName {
  return NAMES.some((name) => name === column);
}

/** CSV header. */
export function csvHeader(): string {
  return csvLine(COLUMNS);
}

/** CSV line of an entry. Absent values are empty cells; `price`, credits by unit, `passes` and `attempts` are JSON. */
export function csvEntry(entry: EntryView): string {
  return csvLine(CELLS.map((cell) => cell(entry)));
}
