import { OUT_CAUSES } from '../../domain/target-cause.ts';
import { orNull, timeOrNull, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

/** Newest calls of a provider whose attempts are counted. */
const COUNTED = 500;

function attempts(span: string) {
  const number = (description: string) => Type.Integer({ minimum: 0, description });
  return Type.Object(
    {
      attempts: number('Attempts of calls; a call that is handed over counts at each target.'),
      failed: number('Those in which the provider failed.'),
    },
    {
      description: `Of the last ${span} at all gateways, among the newest ${COUNTED} calls of each provider.`,
    },
  );
}

const FORMAT = words(['openai', 'anthropic'], 'Whose API it is.');

const TargetView = Type.Object(
  {
    target: Type.String({
      description: "The upstream's name in the configuration; `name#2` is its second credential.",
    }),
    model: Type.String({ description: 'The model that runs there.' }),
    formats: Type.Array(FORMAT, { description: 'Formats in which it is served there.' }),
    state: words(
      ['up', 'out'],
      '`out`: it failed, and is not asked until `out_until`, unless all targets of the model are out.',
    ),
    formats_out: Type.Array(FORMAT, {
      description: 'Formats whose address is out; a refused credential is out at both.',
    }),
    cause: orNull(
      words(OUT_CAUSES, 'Why it is out; `credential`: it refuses the credential of the gateway.'),
      'Null: it is up.',
    ),
    out_since: timeOrNull('When it went out for the cause; null: it is up.'),
    out_until: timeOrNull('When calls try it again; null: it is up.'),
    last_error: orNull(Type.String(), "Its last failure in the provider's words; null: none is known."),
    last_error_at: timeOrNull('When that was.'),
    latency_ms: orNull(
      Type.Integer({ minimum: 0 }),
      'Moving average of the time until it begins to answer; null: it has not answered yet.',
    ),
    hour: attempts('hour'),
    day: attempts('24 hours'),
    calls: Type.Integer({
      minimum: 0,
      description:
        'Calls of the model that ended at this provider today (UTC), at all gateways and with all its credentials.',
    }),
  },
  { title: 'Target', description: 'A model at one credential of a provider.' },
);

export const ProviderList = Type.Object(
  {
    providers: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: 'Its name in the configuration.' }),
          format: words(['openai', 'anthropic'], 'Whose API it speaks; of two, the first.'),
          targets: Type.Array(TargetView),
        },
        { title: 'Provider' },
      ),
    ),
  },
  { title: 'ProviderList', description: 'Providers in the order of their models.' },
);

export const PROVIDERS_EXAMPLE: Static<typeof ProviderList> = {
  providers: [
    {
      name: 'openai',
      format: 'openai',
      targets: [
        {
          target: 'openai',
          model: 'gpt-5-mini',
          formats: ['openai'],
          state: 'out',
          formats_out: ['openai'],
          cause: 'rate_limit',
          out_since: '2026-11-21T08:00:00.000Z',
          out_until: '2026-11-21T08:00:08.000Z',
          last_error: 'HTTP 429: Rate limit reached for requests',
          last_error_at: '2026-11-21T08:00:00.000Z',
          latency_ms: 412,
          hour: { attempts: 310, failed: 12 },
          day: { attempts: 500, failed: 12 },
          calls: 1_204,
        },
      ],
    },
  ],
};

/** The answer of `GET /api/admin/providers/`. */
export type ProviderListView = Static<typeof ProviderList>;
