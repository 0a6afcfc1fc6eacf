import { orNull, time, timeOrNull } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const number = (description: string) => Type.Integer({ minimum: 0, description });
const ok = Type.Boolean({ description: 'Whether it answers and takes writes.' });
const detail = Type.Optional(Type.String({ description: 'The problem.' }));

export const Health = Type.Object(
  {
    version: Type.String({ description: 'Version of Tollgate.' }),
    redis: Type.Object({
      ok,
      durable: Type.Boolean({ description: 'Append-only persistence, and no eviction policy.' }),
      detail,
    }),
    book: Type.Object({ ok, detail }, { description: 'The database.' }),
    journal: orNull(
      Type.Object({
        entries: number('Ledger entries that the database lacks.'),
        age_ms: number('Milliseconds since the oldest of them.'),
        refused: number('Those that the database refuses; the log names each.'),
      }),
      'Null: Redis does not answer.',
    ),
    alerts: orNull(
      Type.Object({
        queued: number('Alerts that no gateway has begun to send, at most 1,000.'),
        failing: number('Receivers to which the last alert of the last 24 hours was not delivered.'),
      }),
      'Null: the database does not answer.',
    ),
    refused_calls: Type.Object(
      {
        waiting: number('Records waiting for the database.'),
        dropped: number('Records dropped since the start, because the database did not keep up.'),
      },
      { description: 'Records of refused calls.' },
    ),
    unknown_members: Type.Array(
      Type.Object({
        name: Type.String({ description: 'Name of the field.' }),
        at: time('When it was last reported: at most once a day.'),
      }),
      { description: 'Fields of requests that the price tables lack, seen in the last 24 hours.' },
    ),
    unnamed_proxy_at: timeOrNull(
      'When a key with address or country restrictions was checked by the address of a proxy that TRUST_PROXY does not ' +
        'name, in the last 24 hours; null: it was not.',
    ),
    clock_skew_ms: Type.Integer({
      description: "Milliseconds by which this machine's clock is ahead of Redis'; negative: behind.",
    }),
  },
  { title: 'GatewayHealth', description: 'State of the gateway process that answers.' },
);

/** The answer of `GET /api/admin/health/`. */
export type HealthView = Static<typeof Health>;

export const HEALTH_EXAMPLE: HealthView = {
  version: '1.0.0',
  redis: { ok: true, durable: true },
  book: { ok: true },
  journal: { entries: 3, age_ms: 40, refused: 0 },
  alerts: { queued: 0, failing: 0 },
  refused_calls: { waiting: 0, dropped: 0 },
  unknown_members: [{ name: 'new_field', at: '2026-11-21T08:00:00.000Z' }],
  unnamed_proxy_at: null,
  clock_skew_ms: 2,
};
