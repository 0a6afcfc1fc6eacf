import type { CallsSummary } from '../../book/calls-summary.ts';
import { BUCKET_UNITS } from '../../domain/call-buckets.ts';
import { timestamp } from '../../domain/period.ts';
import { id, orNull, time, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const calls = Type.Integer({ minimum: 0, description: 'Number of calls.' });
const RESULTS = {
  ok: Type.Integer({ minimum: 0, description: 'Complete calls.' }),
  refused: Type.Integer({ minimum: 0, description: 'Calls that the gateway refused.' }),
  failed: Type.Integer({ minimum: 0, description: 'Calls with any other outcome.' }),
};
const name = orNull(Type.String(), 'Its name; null: unknown.');
const facet = <const Name extends string>(field: Name, description: string) =>
  Type.Array(
    Type.Object({ [field]: Type.String(), count: calls } as Record<Name, ReturnType<typeof Type.String>> & {
      count: typeof calls;
    }),
    { description },
  );
const namedFacet = (description: string) =>
  Type.Array(Type.Object({ id: id('Its id.'), name, count: calls }), { description });
const percentiles = (description: string) => {
  const ms = (share: string) =>
    orNull(Type.Integer({ minimum: 0 }), `Milliseconds that ${share} of them took at most; null: no calls.`);
  return Type.Object({ p50: ms('half'), p95: ms('95 %') }, { description });
};

const SUMMARY = {
  total: Type.Integer({ minimum: 0, description: 'Number of calls. Repeated refused calls all count.' }),
  results: Type.Object(RESULTS, { description: 'Calls by result, as in the filter `result`.' }),
  bucket: words(BUCKET_UNITS, 'Unit of the buckets: the smallest of which at most 120 cover the range.'),
  bucket_ms: Type.Integer({
    minimum: 60_000,
    description: 'Length of a bucket in milliseconds: one unit, or several days in a range of over 120 days.',
  }),
  buckets: Type.Array(Type.Object({ at: time('Start of the bucket.'), ...RESULTS }), {
    description: 'Calls by time of arrival, oldest first, without gaps.',
  }),
  codes: facet('code', 'Calls by error code.'),
  models: facet('model', 'Calls by model.'),
  endpoints: facet('endpoint', 'Calls by path.'),
  keys: namedFacet('Calls by key.'),
  members: namedFacet('Calls by the person of the key.'),
  groups: Type.Array(
    Type.Object({
      code: Type.String({ description: 'Error code.' }),
      endpoint: orNull(Type.String(), 'Path of the calls.'),
      model: orNull(Type.String(), 'Model of the calls; null: refused before the body was read.'),
      count: calls,
      first_at: time('When the first of them arrived.'),
      last_at: time('When the last of them arrived.'),
      keys: Type.Integer({ minimum: 1, description: 'Number of keys that made them.' }),
    }),
    { description: 'Calls with the same error.' },
  ),
  duration_ms: percentiles('Durations of calls that reached a provider: exact to 1 s, then to 1 %.'),
  first_byte_ms: percentiles("Times to the headers of the provider's answer, as exact."),
};

export const CallSummarySchema = Type.Object(SUMMARY, {
  title: 'CallSummary',
  description:
    'Sums of calls. Each list has at most 50 values, those with the most calls first, and leaves out calls without a value.',
});

export const OperatorCallSummarySchema = Type.Object(
  {
    ...SUMMARY,
    accounts: Type.Array(
      Type.Object({
        id: id('Id of the account.'),
        email: orNull(Type.String(), 'Its e-mail address.'),
        count: calls,
      }),
      { description: 'Calls by account.' },
    ),
    providers: facet('provider', 'Calls by upstream, as in the filter `upstream`.'),
  },
  { title: 'OperatorCallSummary', description: 'Sums of calls, also by account and provider.' },
);

/** Sums of an account's calls (specification section 14). */
export type CallSummaryView = Static<typeof CallSummarySchema>;
/** Summary for the operator, also by account and provider. */
export type OperatorCallSummaryView = Static<typeof OperatorCallSummarySchema>;

const AT = '2026-11-21T14:03:00.000Z';

export const SUMMARY_EXAMPLE: CallSummaryView = {
  total: 3,
  results: { ok: 2, refused: 1, failed: 0 },
  bucket: 'minute',
  bucket_ms: 60_000,
  buckets: [
    { at: AT, ok: 2, refused: 1, failed: 0 },
    { at: '2026-11-21T14:04:00.000Z', ok: 0, refused: 0, failed: 0 },
  ],
  codes: [{ code: 'ip_not_allowed', count: 1 }],
  models: [{ model: 'demo-chat', count: 3 }],
  endpoints: [{ endpoint: '/v1/chat/completions', count: 3 }],
  keys: [{ id: 2, name: 'backend', count: 3 }],
  members: [],
  groups: [
    {
      code: 'ip_not_allowed',
      endpoint: '/v1/chat/completions',
      model: 'demo-chat',
      count: 1,
      first_at: AT,
      last_at: AT,
      keys: 1,
    },
  ],
  duration_ms: { p50: 412, p95: 780 },
  first_byte_ms: { p50: 409, p95: 771 },
};

export const OPERATOR_SUMMARY_EXAMPLE: OperatorCallSummaryView = {
  ...SUMMARY_EXAMPLE,
  accounts: [{ id: 1, email: 'owner@example.com', count: 3 }],
  providers: [{ provider: 'demo', count: 2 }],
};

export function summaryView({ results, buckets, inBuckets, ...sums }: CallsSummary): CallSummaryView {
  const named = ({ value, ...more }: CallsSummary['keys'][number]) => ({ id: value, ...more });
  return {
    total: results.ok + results.refused + results.failed,
    results,
    bucket: buckets.unit,
    bucket_ms: buckets.ms,
    buckets: inBuckets.map((bucket, index) => ({
      at: timestamp(buckets.start + index * buckets.ms),
      ...bucket,
    })),
    codes: sums.codes.map(({ value, count }) => ({ code: value, count })),
    models: sums.models.map(({ value, count }) => ({ model: value, count })),
    endpoints: sums.endpoints.map(({ value, count }) => ({ endpoint: value, count })),
    keys: sums.keys.map(named),
    members: sums.members.map(named),
    groups: sums.groups.map(({ firstAt, lastAt, ...group }) => ({
      ...group,
      first_at: timestamp(firstAt),
      last_at: timestamp(lastAt),
    })),
    duration_ms: sums.durationMs,
    first_byte_ms: sums.firstByteMs,
  };
}

/** Adds accounts and providers, for the operator. */
export function operatorSummaryView(
  summary: CallsSummary,
  emails: ReadonlyMap<number, string>,
): OperatorCallSummaryView {
  return {
    ...summaryView(summary),
    accounts: summary.accounts.map(({ value, count }) => ({
      id: value,
      email: emails.get(value) ?? null,
      count,
    })),
    providers: summary.upstreams.map(({ value, count }) => ({ provider: value, count })),
  };
}
