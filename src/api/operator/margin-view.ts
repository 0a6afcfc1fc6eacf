import type { MarginRow, UsageByRow, UsagePlace } from '../../book/usage.ts';
import { creditsString } from '../../domain/credits.ts';
import { fieldSchema, oneOf, optional, section, withDefault } from '../../domain/shape.ts';
import type { Usage } from '../../domain/units.ts';
import { UsageSchema, usageView } from '../ledger/entry-view.ts';
import { day, exactCredits, orNull } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';
import {
  addUsage,
  CallCounts,
  DEFAULT_MARGIN_GROUP,
  endsView,
  groupBy,
  MARGIN_GROUPS,
  type Names,
  PLACES,
  placesView,
  reportDays,
} from '../usage/usage-view.ts';

const creditsOrNull = (description: string) => orNull(exactCredits(description), description);

const Sums = {
  ...CallCounts,
  charged: exactCredits('Charges less refunds.'),
  charged_with_cost: exactCredits('The part of `charged` from calls with a known cost.'),
  cost: creditsOrNull(
    "Providers' cost of these calls, by the price list at markup 1; null: unknown for all of them.",
  ),
  margin: creditsOrNull('`charged_with_cost` less `cost`; null if `cost` is null.'),
  usage: UsageSchema,
};

export const MarginReport = Type.Object(
  {
    from: day('First UTC day of the report.'),
    to: day('Last UTC day of the report, included.'),
    group_by: fieldSchema(groupBy(MARGIN_GROUPS)),
    rows: Type.Array(
      Type.Object(
        {
          ...PLACES,
          account_id: Type.Optional(orNull(Type.Integer(), 'With group_by=account or key: the account.')),
          account_email: Type.Optional(
            orNull(Type.String(), 'With group_by=account or key: its email address.'),
          ),
          email: Type.Optional(orNull(Type.String(), 'With group_by=account: the same.')),
          upstream: Type.Optional(
            orNull(
              Type.String(),
              'With group_by=upstream: its name in the configuration; null: expired holds.',
            ),
          ),
          ...Sums,
        },
        { title: 'MarginRow' },
      ),
    ),
    total: Type.Object(Sums, { title: 'MarginTotal', description: 'Sums over all rows.' }),
  },
  { title: 'MarginReport', description: 'Sums over whole UTC days and all accounts, one row per group.' },
);

const SUMS_EXAMPLE = {
  calls: 1,
  charged: '0.012089',
  charged_with_cost: '0.012089',
  cost: '0.010990',
  margin: '0.001099',
  usage: { input_tokens: 8, output_tokens: 17 },
};
export const MARGIN_EXAMPLE: Static<typeof MarginReport> = {
  from: '2026-10-23',
  to: '2026-11-21',
  group_by: 'account',
  rows: [{ account_id: 1, account_email: 'owner@example.com', email: 'owner@example.com', ...SUMS_EXAMPLE }],
  total: SUMS_EXAMPLE,
};

export const MarginQuery = section({
  ...reportDays,
  group_by: withDefault(groupBy(MARGIN_GROUPS), [DEFAULT_MARGIN_GROUP], DEFAULT_MARGIN_GROUP),
  format: optional(oneOf('json', 'csv'), 'json', '`csv` returns a file.'),
});

/** Usage of all accounts in whole UTC days; `from` and `to` are both included. */
export type MarginReportView = Static<typeof MarginReport>;
/** Sums of one group, named by the fields that the report is grouped by. */
export type MarginRowView = MarginReportView['rows'][number];
/** Sums with the cost to the operator; all amounts are decimal strings with six decimals. */
export type MarginSumsView = MarginReportView['total'];

/** Running sums over the parts of the report. */
export interface MarginSums {
  calls: number;
  failed: number;
  refused: number;
  credits: bigint;
  cost: bigint;
  costed: bigint;
  readonly usage: Usage;
}

export function noMargin(): MarginSums {
  return { calls: 0, failed: 0, refused: 0, credits: 0n, cost: 0n, costed: 0n, usage: {} };
}

export function addMargin(sums: MarginSums, row: MarginSums | Omit<MarginRow, 'group'>): void {
  sums.calls += row.calls;
  sums.failed += row.failed;
  sums.refused += row.refused;
  sums.credits += row.credits;
  sums.cost += row.cost;
  sums.costed += row.costed;
  addUsage(sums.usage, row.usage);
}

/** The view of one group of a report. */
export function marginRowView(groups: readonly UsagePlace[], row: UsageByRow, names: Names): MarginRowView {
  return {
    ...placesView(groups, row.groups, names),
    ...accountOf(groups, row, names),
    ...marginSumsView(groups, row),
  };
}

/** The account of a group that has one: keys of several accounts have the same name. */
function accountOf(
  groups: readonly UsagePlace[],
  { groups: values }: UsageByRow,
  { keys, emails }: Names,
): Pick<MarginRowView, 'account_id' | 'account_email'> {
  const idOf = (group: UsagePlace) => values[groups.indexOf(group)];
  if (!groups.includes('account') && !groups.includes('key')) return {};
  const id = idOf('account') ?? keys.get(Number(idOf('key')))?.accountId ?? null;
  return { account_id: id === null ? null : Number(id), account_email: emails.get(Number(id)) ?? null };
}

/**
 * Cost and margin are null if no cost is known. They are also null if the known costs and the charges of those calls
 * add up to 0, because the sums can't tell the two cases apart.
 */
export function marginSumsView(groups: readonly UsagePlace[], sums: MarginSums | UsageByRow): MarginSumsView {
  const { calls, credits, cost, costed, usage } = sums;
  const isKnown = cost !== 0n || costed !== 0n;
  return {
    calls,
    ...endsView(groups, sums),
    charged: creditsString(credits),
    charged_with_cost: creditsString(costed),
    cost: isKnown ? creditsString(cost) : null,
    margin: isKnown ? creditsString(costed - cost) : null,
    usage: usageView(usage),
  };
}
