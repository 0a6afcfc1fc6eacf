import { Type } from 'typebox';
import { ENTRY_TYPES } from '../domain/ledger-entry.ts';

const count = Type.Optional(Type.Number({ minimum: 0 }));

/** What a call used; a unit that is absent was not used. */
export const Usage = Type.Object({
  input_tokens: count,
  output_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  characters: count,
  images: count,
  audio_seconds: count,
  video_seconds: count,
  requests: count,
});

const nullable = <Schema extends ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(
  schema: Schema,
) => Type.Union([schema, Type.Null()]);

/** Contract section 7, "Ledger entry". */
export const Entry = Type.Object({
  id: Type.String({ description: 'x-request-id of the call, or the id of the change of balance' }),
  type: Type.String({ enum: [...ENTRY_TYPES] }),
  created_at: Type.String({ format: 'date-time' }),
  key_id: nullable(Type.Integer()),
  model: nullable(Type.String()),
  category: nullable(Type.String()),
  endpoint: nullable(Type.String()),
  status: nullable(Type.Integer()),
  outcome: nullable(Type.String()),
  usage: Usage,
  estimated: Type.Boolean(),
  credits: Type.String({ description: 'Signed, six decimals; a charge is negative' }),
  balance_after: Type.String({ description: 'Six decimals' }),
});

export const EntryPage = Type.Object(
  {
    entries: Type.Array(Entry),
    next: nullable(Type.String()),
  },
  { description: 'Newest first; pass next as before for the following page' },
);

export const LedgerQueryString = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Default 100; exports: all' })),
  before: Type.Optional(Type.String({ description: 'The next of the page before' })),
  key_id: Type.Optional(Type.Integer({ minimum: 1 })),
  type: Type.Optional(Type.String({ enum: [...ENTRY_TYPES] })),
  model: Type.Optional(Type.String({ description: 'Slug of the model that was called' })),
  format: Type.Optional(Type.String({ enum: ['json', 'csv', 'jsonl'] })),
});

const Sums = {
  calls: Type.Integer(),
  credits: Type.String({ description: 'Spent: charges less refunds, six decimals' }),
  usage: Usage,
};

export const UsageReport = Type.Object(
  {
    from: Type.String({ format: 'date' }),
    to: Type.String({ format: 'date' }),
    group_by: Type.String(),
    rows: Type.Array(
      Type.Object({
        day: Type.Optional(Type.String({ format: 'date' })),
        key_id: Type.Optional(nullable(Type.Integer())),
        model: Type.Optional(nullable(Type.String())),
        ...Sums,
      }),
    ),
    total: Type.Object(Sums),
  },
  { description: 'Sums over whole UTC days, one row a group' },
);

export const UsageQueryString = Type.Object({
  from: Type.Optional(Type.String({ format: 'date', description: 'First day; default 29 days before to' })),
  to: Type.Optional(Type.String({ format: 'date', description: 'Last day, included; default today (UTC)' })),
  group_by: Type.Optional(Type.String({ enum: ['day', 'key', 'model'], description: 'Default day' })),
});
