import type { MarginRow, UsageByRow, UsagePlace } from '../../book/book.ts';
import { creditsString } from '../../domain/credits.ts';
import type { Usage } from '../../domain/units.ts';
import { usageView } from '../ledger/entry-view.ts';
import type { Static } from '../openapi/json-type.ts';
import { addUsage, endsView, type Names, placesView } from '../usage/usage-view.ts';
import type { MarginReport } from './margin-schema.ts';

/** Usage of all accounts in whole UTC days; `from` and `to` are both included. */
export type MarginReportView = Static<typeof MarginReport>;
/** The sums of one group, which the field that the report is grouped by names. */
export type MarginRowView = MarginReportView['rows'][number];
/** Sums with the cost to the operator; all amounts are decimal strings with six decimals. */
export type MarginSumsView = MarginReportView['total'];

/** Sums as they grow, part by part of the report. */
export interface MarginSums {
  calls: number;
  failed: number;
  refused: number;
  credits: bigint;
  cost: bigint;
  costed: bigint;
  readonly usage: Usage;
}

/** Sums of nothing, to be added to. */
export function noMargin(): MarginSums {
  return { calls: 0, failed: 0, refused: 0, credits: 0n, cost: 0n, costed: 0n, usage: {} };
}

/** Adds the sums of a row to `sums`. */
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
  return { ...placesView(groups, row.groups, names), ...marginSumsView(groups, row) };
}

/**
 * The view of sums. Cost and margin are null if no cost is known, and even if the known costs and the charges of
 * those calls add up to 0: the sums cannot tell the two apart.
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
