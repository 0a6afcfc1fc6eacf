import type { UsagePlace } from '../../book/book.ts';
import { ENTRY_TYPES } from '../../domain/ledger-entry.ts';
import {
  cursor,
  DEFAULT_PAGE_LIMIT,
  day,
  exactCredits,
  orNull,
  pageLimit,
  timestamp,
  words,
} from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';
import { FORMATS, listAnswer } from '../openapi/list-answer.ts';
import { ENTRY_EXAMPLE, EntryPage, Usage } from './entry-schema.ts';
import { csvEntry, csvHeader } from './ledger-csv.ts';

/** Words of `group_by` of the operator's report, each with the field that names the group in a row. */
export const MARGIN_FIELDS = {
  account: 'account_id',
  key: 'key_id',
  model: 'model',
  upstream: 'upstream',
  day: 'day',
  hour: 'hour',
} as const satisfies Record<UsagePlace, string>;
export const MARGIN_GROUPS = Object.keys(MARGIN_FIELDS) as readonly UsagePlace[];
export const DEFAULT_MARGIN_GROUP: UsagePlace = 'account';

/** Those of an account's report. */
export const USAGE_GROUPS = ['hour', 'day', 'key', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];
export const DEFAULT_USAGE_GROUP: UsageGroup = 'day';

/** Most days of a report by hour. */
export const MOST_HOURLY_DAYS = 8;

/** Schema of `group_by`: one or two of the words, joined by a comma. */
export function groupBy(words: readonly string[], more: object = {}) {
  const word = `(${words.join('|')})`;
  return Type.String({
    pattern: `^${word}(,${word})?$`,
    description: `Groups the rows by one or two of ${words.join(', ')}, joined by a comma. By hour, a report has at most ${MOST_HOURLY_DAYS} days.`,
    ...more,
  });
}

const key_id = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      "Only entries of this key, deleted or not. Another account's key gets 404; so does any other key if yours can't manage.",
    examples: [1],
  }),
);

export const EntryPath = Type.Object({
  entry_id: Type.String({ description: 'Id of the entry.', examples: [ENTRY_EXAMPLE.id] }),
});

export const LedgerQueryString = Type.Object({
  limit: pageLimit(`Maximum number of entries. Default: ${DEFAULT_PAGE_LIMIT}; for an export, all.`),
  before: cursor('`next` of the previous page.'),
  key_id,
  type: Type.Optional(words(ENTRY_TYPES, 'Only entries of this type.')),
  model: Type.Optional(Type.String({ description: 'Only calls of this model.', examples: ['demo-chat'] })),
  from: Type.Optional(day('First UTC day. A refund belongs to the day of its call. Default: no bound.')),
  to: Type.Optional(day('Last UTC day, included. Default: no bound.')),
  format: Type.Optional(
    words(FORMATS, '`csv` and `jsonl` stream the whole ledger, as files to save.', { default: 'json' }),
  ),
});

/** The answer of `GET /api/account/ledger/`: a page of JSON, or one of the two exports. */
export const LedgerAnswer = listAnswer('ledger', EntryPage, {
  csv: csvHeader() + csvEntry(ENTRY_EXAMPLE),
  jsonl: ENTRY_EXAMPLE,
});

const ends = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} In reports by key, day or hour.` }));

/** Counts of calls in every report of usage. */
export const CallCounts = {
  calls: Type.Integer({ minimum: 0, description: 'Model calls in the ledger, including those that cost 0.' }),
  failed: ends('Calls in `calls` that failed.'),
  refused: ends('Calls that the gateway refused; `calls` does not include them.'),
};

const Sums = {
  ...CallCounts,
  credits: exactCredits('Spent: charges less refunds.'),
  usage: Usage,
};

/** Fields that name the group of a row. */
export const PLACES = {
  hour: Type.Optional(timestamp('With group_by=hour: start of the hour.')),
  day: Type.Optional(day('With group_by=day: the UTC day on which the calls ended.')),
  key_id: Type.Optional(orNull(Type.Integer(), 'With group_by=key: the key.')),
  key_name: Type.Optional(orNull(Type.String(), 'With group_by=key: its name.')),
  model: Type.Optional(orNull(Type.String(), 'With group_by=model: the model.')),
};

export const UsageReport = Type.Object(
  {
    from: day('First UTC day of the report.'),
    to: day('Last UTC day of the report, included.'),
    group_by: groupBy(USAGE_GROUPS),
    rows: Type.Array(
      Type.Object(
        {
          ...PLACES,
          ...Sums,
        },
        { title: 'UsageRow' },
      ),
    ),
    total: Type.Object(Sums, { title: 'UsageTotal', description: 'Sums over all rows.' }),
  },
  { title: 'UsageReport', description: 'Sums over whole UTC days, one row per group.' },
);

const SUMS_EXAMPLE = {
  calls: 1,
  failed: 0,
  refused: 2,
  credits: '0.010042',
  usage: { input_tokens: 8, output_tokens: 17 },
};
export const USAGE_EXAMPLE: Static<typeof UsageReport> = {
  from: '2026-10-23',
  to: '2026-11-21',
  group_by: 'day',
  rows: [{ day: '2026-11-21', ...SUMS_EXAMPLE }],
  total: SUMS_EXAMPLE,
};

/** Days of a report of usage: of one that says none, and most, which is a leap year. */
export const DEFAULT_REPORT_DAYS = 30;
export const MOST_REPORT_DAYS = 366;

export const reportDays = {
  from: Type.Optional(
    day(
      `First UTC day. Default: ${DEFAULT_REPORT_DAYS - 1} days before \`to\`; a report has at most ${MOST_REPORT_DAYS} days.`,
    ),
  ),
  to: Type.Optional(day('Last UTC day, included. Default: today.')),
};

export const UsageQueryString = Type.Object({
  ...reportDays,
  group_by: Type.Optional(groupBy(USAGE_GROUPS, { default: DEFAULT_USAGE_GROUP })),
  key_id,
});
