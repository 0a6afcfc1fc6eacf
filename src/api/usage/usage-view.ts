import type { KeyName } from '../../book/keys.ts';
import type { UsageByRow, UsagePlace, UsageRow } from '../../book/usage.ts';
import { creditsString } from '../../domain/credits.ts';
import { dayString } from '../../domain/period.ts';
import { fieldSchema, maybe, type Reader, required, section, text, withDefault } from '../../domain/shape.ts';
import type { Usage } from '../../domain/units.ts';
import { UsageSchema, usageView } from '../ledger/entry-view.ts';
import { DAY, day, exactCredits, ID_PARAM, orNull, time } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

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

/** Words of `group_by` of an account's report. */
export const USAGE_GROUPS = ['hour', 'day', 'key', 'model'] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];
export const DEFAULT_USAGE_GROUP: UsageGroup = 'day';

/** Maximum days of a report by hour. */
export const MOST_HOURLY_DAYS = 8;

/** `group_by`: one or two of the words, joined by a comma. */
function groupsOf<Word extends string>(words: readonly Word[]): Reader<readonly Word[], string> {
  const word = `(${words.join('|')})`;
  return text(
    `must be one or two different words of: ${words.join(', ')}; two are joined by a comma`,
    (given) => {
      const groups = given.split(',');
      const known = groups.filter((group): group is Word => words.some((one) => one === group));
      const areFit =
        known.length === groups.length && known.length <= 2 && new Set(known).size === known.length;
      return areFit ? known : undefined;
    },
    { pattern: `^${word}(,${word})?$` },
  );
}

/** Field `group_by` of a report. */
export function groupBy<Word extends string>(words: readonly Word[]) {
  return required(
    groupsOf(words),
    `Groups the rows by one or two of ${words.join(', ')}, joined by a comma. By hour, a report has at most ${MOST_HOURLY_DAYS} days.`,
  );
}

/** Field `key_id` of the ledger and of reports. */
export const KEY_ID = maybe(
  ID_PARAM,
  "Only entries of this key, deleted or not. Another account's key gets 404; so does any other key if yours can't manage.",
);

const ends = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, description: `${description} In reports by key, day or hour.` }));

/** Counts of calls in every report of usage. */
export const CallCounts = {
  calls: Type.Integer({ minimum: 0, description: 'Model calls in the ledger, including those that cost 0.' }),
  failed: ends('Calls in `calls` that failed.'),
  refused: ends('Calls that the gateway refused; `calls` does not include them.'),
};

const SumFields = {
  ...CallCounts,
  credits: exactCredits('Spent: charges less refunds.'),
  usage: UsageSchema,
};

/** Fields that name the group of a row. */
export const PLACES = {
  hour: Type.Optional(time('With group_by=hour: start of the hour.')),
  day: Type.Optional(day('With group_by=day: the UTC day on which the calls ended.')),
  key_id: Type.Optional(orNull(Type.Integer(), 'With group_by=key: the key.')),
  key_name: Type.Optional(orNull(Type.String(), 'With group_by=key: its name.')),
  model: Type.Optional(orNull(Type.String(), 'With group_by=model: the model.')),
};

export const UsageReport = Type.Object(
  {
    from: day('First UTC day of the report.'),
    to: day('Last UTC day of the report, included.'),
    group_by: fieldSchema(groupBy(USAGE_GROUPS)),
    rows: Type.Array(
      Type.Object(
        {
          ...PLACES,
          ...SumFields,
        },
        { title: 'UsageRow' },
      ),
    ),
    total: Type.Object(SumFields, { title: 'UsageTotal', description: 'Sums over all rows.' }),
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

/** Days of a usage report: the default, and the maximum, which is a leap year. */
export const DEFAULT_REPORT_DAYS = 30;
export const MOST_REPORT_DAYS = 366;

export const reportDays = {
  from: maybe(
    DAY,
    `First UTC day. Default: ${DEFAULT_REPORT_DAYS - 1} days before \`to\`; a report has at most ${MOST_REPORT_DAYS} days.`,
  ),
  to: maybe(DAY, 'Last UTC day, included. Default: today.'),
};

export const UsageQuery = section({
  ...reportDays,
  group_by: withDefault(groupBy(USAGE_GROUPS), [DEFAULT_USAGE_GROUP], DEFAULT_USAGE_GROUP),
  key_id: KEY_ID,
});

/** A report of usage in whole UTC days (specification section 7); `from` and `to` are both included. */
export type UsageReportView = Static<typeof UsageReport>;
type SumsView = UsageReportView['total'];

/** Names that rows carry beside ids. */
export interface Names {
  readonly keys: ReadonlyMap<number, KeyName>;
  readonly emails: ReadonlyMap<number, string>;
}

/** The view of a report. `from` and `to` are days since 1970-01-01 UTC. */
export function usageReportView(
  { from, to }: { readonly from: number; readonly to: number },
  groups: readonly UsageGroup[],
  rows: readonly Omit<UsageByRow, 'cost' | 'costed'>[],
  names: Names,
): UsageReportView {
  return {
    from: dayString(from),
    to: dayString(to),
    group_by: groups.join(','),
    rows: rows.map((row) => ({ ...placesView(groups, row.groups, names), ...sumsView(groups, row) })),
    total: sumsView(groups, totalOf(rows)),
  };
}

/** The fields that name the group of a row. */
export function placesView(
  groups: readonly UsagePlace[],
  values: readonly UsageRow['group'][],
  { keys, emails }: Names,
): Record<string, string | number | null> {
  const view: Record<string, string | number | null> = {};
  for (const [at, group] of groups.entries()) {
    const value = values[at] ?? null;
    view[MARGIN_FIELDS[group]] = value;
    if (group === 'key') view.key_name = keys.get(Number(value))?.name ?? null;
    if (group === 'account') view.email = emails.get(Number(value)) ?? null;
  }
  return view;
}

type Sums = Omit<UsageRow, 'group'>;

function sumsView(groups: readonly UsageGroup[], sums: Sums): SumsView {
  const { calls, credits, usage } = sums;
  return { calls, ...endsView(groups, sums), credits: creditsString(credits), usage: usageView(usage) };
}

/** Failed and refused calls, in reports by key, day or hour (specification section 14). */
export function endsView(
  groups: readonly UsagePlace[],
  { failed, refused }: Pick<UsageRow, 'failed' | 'refused'>,
): { failed?: number; refused?: number } {
  const has = groups.some((group) => group === 'key' || group === 'day' || group === 'hour');
  return has ? { failed, refused } : {};
}

function totalOf(rows: readonly Sums[]): Sums {
  const usage: Usage = {};
  for (const row of rows) addUsage(usage, row.usage);
  return {
    calls: rows.reduce((sum, row) => sum + row.calls, 0),
    failed: rows.reduce((sum, row) => sum + row.failed, 0),
    refused: rows.reduce((sum, row) => sum + row.refused, 0),
    credits: rows.reduce((sum, row) => sum + row.credits, 0n),
    usage,
  };
}

/** Adds another group's usage. Seconds may be fractions, and 0.1 + 0.2 should read 0.3. */
export function addUsage(sums: Usage, usage: Usage): void {
  for (const [unit, amount] of Object.entries(usage) as [keyof Usage, number][]) {
    const sum = (sums[unit] ?? 0) + amount;
    sums[unit] = Number.isInteger(sum) ? sum : Number(sum.toFixed(6));
  }
}
