import { Usage } from '../ledger/entry-schema.ts';
import {
  CallCounts,
  DEFAULT_MARGIN_GROUP,
  groupBy,
  MARGIN_GROUPS,
  PLACES,
  reportDays,
} from '../ledger/ledger-schema.ts';
import { day, exactCredits, orNull, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

const creditsOrNull = (description: string) =>
  Type.Union([exactCredits(description), Type.Null()], { description });

const Sums = {
  ...CallCounts,
  charged: exactCredits('Charges less refunds.'),
  charged_with_cost: exactCredits('The part of `charged` from calls with a known cost.'),
  cost: creditsOrNull(
    "Providers' cost of these calls, by the price list at markup 1; null: unknown for all of them.",
  ),
  margin: creditsOrNull('`charged_with_cost` less `cost`; null if `cost` is null.'),
  usage: Usage,
};

export const MarginReport = Type.Object(
  {
    from: day('First UTC day of the report.'),
    to: day('Last UTC day of the report, included.'),
    group_by: groupBy(MARGIN_GROUPS),
    rows: Type.Array(
      Type.Object(
        {
          ...PLACES,
          account_id: Type.Optional(orNull(Type.Integer(), 'With group_by=account: the account.')),
          email: Type.Optional(orNull(Type.String(), 'With group_by=account: its email address.')),
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
  rows: [{ account_id: 1, email: 'owner@example.com', ...SUMS_EXAMPLE }],
  total: SUMS_EXAMPLE,
};

export const MARGIN_FORMATS = ['json', 'csv'] as const;

export const MarginQueryString = Type.Object({
  ...reportDays,
  group_by: Type.Optional(groupBy(MARGIN_GROUPS, { default: DEFAULT_MARGIN_GROUP })),
  format: Type.Optional(words(MARGIN_FORMATS, '`csv` returns a file.', { default: 'json' })),
});
