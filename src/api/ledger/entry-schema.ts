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
  description: 'Usage by unit; absent units were not used.',
});

/** Properties of an object that has one for each unit of a price, all with one schema. */
const eachUnit = <T>(schema: Schema<T>) =>
  Object.fromEntries(UNIT_NAMES.map((unit) => [unit, schema])) as Record<Unit, Schema<T>>;
const ofCall = 'null: not a call.';

/** Unit prices that were applied. */
const Applied = Type.Partial(Type.Object(eachUnit(Type.Number())));

/** A try of a call (specification section 12). */
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
    usage: Type.Optional(Usage),
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
    created_at: timestamp('Time of the entry.'),
    key_id: orNull(Type.Integer(), `The key that called; ${ofCall}`),
    model: orNull(Type.String(), `The model; ${ofCall}`),
    category: orNull(Type.Enum(CATEGORIES), `Category of the model; ${ofCall}`),
    endpoint: orNull(Type.String(), `Path of the call; ${ofCall}`),
    status: orNull(Type.Integer(), `Status that the client got; 499: it left first; ${ofCall}`),
    outcome: orNull(Type.Enum(OUTCOMES), `How the call ended; ${ofCall}`),
    usage: Usage,
    estimated: Type.Boolean({
      description: 'Whether the usage was estimated, because the provider reported none.',
    }),
    credits: exactCredits('Signed amount: a charge is negative.'),
    balance_after: Type.Union([exactCredits('Balance after the entry.'), Type.Null()], {
      description: "Balance after the entry; null for a key that can't manage.",
    }),
    note: orNull(
      Type.String(),
      "The operator's comment on a top-up or adjustment, or the gateway's on an expired hold; null: none.",
    ),
    price: Type.Union([Applied, Type.Null()], {
      description:
        'Unit prices that were applied, in credits: per 1,000,000 tokens or characters, per 1,000 searches, per image, ' +
        `second or request. credits = -(tokens, characters and seconds x price x multiplier + images, searches and requests x price), ` +
        `rounded up to a micro-credit; ${ofCall}`,
    }),
    passes: Type.Optional(
      Type.Array(Type.Object({ usage: Usage, price: Applied }), {
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
    attempts: Type.Union([Type.Array(Attempt), Type.Null()], {
      description: `Each try at one of the model's targets, including the last; ${ofCall}`,
    }),
    duration_ms: orNull(
      Type.Integer(),
      `Milliseconds from the first byte of the call until it was settled; ${ofCall}`,
    ),
    first_byte_ms: orNull(
      Type.Integer(),
      "Milliseconds from the first byte of the call to the headers of the provider's answer; null: no answer.",
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
    next: orNull(Type.String(), 'Send it as `before` for the next page; null: no more.'),
  },
  { title: 'LedgerPage', description: 'Entries, newest first; the sum of all is the balance.' },
);
