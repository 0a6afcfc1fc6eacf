import { CATEGORIES } from '../../domain/key.ts';
import { ENTRY_TYPES, OUTCOMES } from '../../domain/ledger-entry.ts';
import { UNIT_NAMES, UNITS, type Unit, type UsageName } from '../../domain/units.ts';
import { exactCredits, orNull, timestamp, words } from '../openapi/fields.ts';
import { type Schema, type Static, Type } from '../openapi/json-type.ts';

const count = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
const COUNTS = Object.fromEntries(
  Object.values(UNITS).map(({ wire, help }) => [wire, count(help.used)]),
) as Record<UsageName, ReturnType<typeof count>>;

/** Usage of a call by unit; a unit that is absent was not used. */
export const Usage = Type.Object(COUNTS, {
  title: 'Usage',
  description: 'What was used; a unit that is absent was not.',
});

/** Properties of an object that has one for each unit of a price, all with one schema. */
const eachUnit = <T>(schema: Schema<T>) =>
  Object.fromEntries(UNIT_NAMES.map((unit) => [unit, schema])) as Record<Unit, Schema<T>>;
const ofCall = 'null where the entry is of no call.';

/** Unit prices that were applied. */
const Applied = Type.Partial(Type.Object(eachUnit(Type.Number())));

/** A try of a call (specification section 12). */
export const Attempt = Type.Object(
  {
    target: Type.String({
      description: "The upstream's name in the configuration; `name#2` is its second credential.",
    }),
    status: orNull(Type.Integer(), 'What it answered; null: nothing came.'),
    ms: Type.Integer({ minimum: 0, description: 'From sending it until it failed, or the call ended.' }),
    usage: Type.Optional(Usage),
  },
  {
    title: 'Attempt',
    description: 'A failed attempt has the `usage` that it reported, which is not charged.',
  },
);

/** An entry of the ledger (specification section 7, "Ledger entry"). */
export const Entry = Type.Object(
  {
    id: Type.String({ description: '`x-request-id` of the call, or the id of the change of the balance.' }),
    type: words(
      ENTRY_TYPES,
      '`charge`: a call, also of 0. `top_up`, `adjustment`: by the operator. `refund`: of a job that failed. ' +
        '`expired_hold`: a call whose gateway died; of 0.',
    ),
    created_at: timestamp('When it was booked.'),
    key_id: orNull(Type.Integer(), `The key that called; ${ofCall}`),
    model: orNull(Type.String(), `The model that was called; ${ofCall}`),
    category: orNull(Type.Enum(CATEGORIES), `The modality of the model; ${ofCall}`),
    endpoint: orNull(Type.String(), `The path that was called; ${ofCall}`),
    status: orNull(Type.Integer(), `What the client was answered; 499: it left first. ${ofCall}`),
    outcome: orNull(Type.Enum(OUTCOMES), `How the call ended; ${ofCall}`),
    usage: Usage,
    estimated: Type.Boolean({
      description: 'Whether the usage was estimated, because the provider reported none.',
    }),
    credits: exactCredits('Signed: a charge is negative.'),
    balance_after: Type.Union([exactCredits('The balance right after the entry.'), Type.Null()], {
      description: 'The balance right after the entry; null for a key that cannot manage.',
    }),
    note: orNull(
      Type.String(),
      'What the operator wrote of a top-up or an adjustment, or the gateway of an expired hold; null: nothing.',
    ),
    price: Type.Union([Applied, Type.Null()], {
      description:
        'What the units that were used cost, in credits: per 1,000,000 tokens or characters, per 1,000 searches, per image, ' +
        `second or request. credits = -(tokens, characters and seconds x price x multiplier + images, searches and requests x price), ` +
        `rounded up to a micro-credit. ${ofCall}`,
    }),
    passes: Type.Optional(
      Type.Array(Type.Object({ usage: Usage, price: Applied }), {
        description:
          "The model's passes over its input, if they reached different length tiers of its price. `usage` is their sum, " +
          '`price` is that of the longest, and `credits` is computed from the passes.',
      }),
    ),
    multiplier: orNull(
      Type.Number(),
      `What the service tier multiplied all but the fees by (images, searches, requests); 1: nothing, 0: the provider bills the fees only. ${ofCall}`,
    ),
    upstream: orNull(
      Type.String(),
      `The configuration's name of the provider that was called, also of a refund; ${ofCall}`,
    ),
    attempts: Type.Union([Type.Array(Attempt), Type.Null()], {
      description: `Each try of the call at one of its model's targets, the last one too; ${ofCall}`,
    }),
    duration_ms: orNull(Type.Integer(), `From the first byte of the call until it was settled. ${ofCall}`),
    first_byte_ms: orNull(
      Type.Integer(),
      "From the first byte of the call until the head of the provider's answer; null: none came.",
    ),
    streamed: Type.Union([Type.Boolean(), Type.Null()], {
      description: `Whether the answer was a stream; ${ofCall}`,
    }),
  },
  { title: 'LedgerEntry', description: 'One change of the balance.' },
);

export const ENTRY_EXAMPLE: Static<typeof Entry> = {
  id: 'req_3Jk0vX2bQm8tLw5Z2r',
  type: 'charge',
  created_at: '2026-11-21T08:00:00.000Z',
  key_id: 2,
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

export const EntryPage = Type.Object(
  {
    entries: Type.Array(Entry),
    next: orNull(Type.String(), 'To be sent as `before` for the following page; null: there is none.'),
  },
  { title: 'LedgerPage', description: 'Entries, newest first; the sum of all is the balance.' },
);
