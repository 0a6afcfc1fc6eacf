import type { UsageView } from '../../../api/ledger/entry-view.ts';
import { rounded } from '../format/amount.ts';
import { count } from '../format/credits.ts';

/** A row of a usage report, of an owner or of the operator. */
export interface UsedRow {
  readonly calls: number;
  readonly refused?: number | undefined;
  readonly failed?: number | undefined;
  /** The charge: an owner's report. */
  readonly credits?: string | undefined;
  /** The charge: the operator's report. */
  readonly charged?: string | undefined;
  readonly usage: UsageView;
}

/** What Usage can show: its name, the value of a row, and how values are written. */
export const MEASURES = {
  spend: { name: 'Spend', of: (row: UsedRow) => Number(chargeOf(row)), format: rounded },
  calls: { name: 'Calls', of: ({ calls }: UsedRow) => calls, format: count },
  tokens: { name: 'Tokens', of: ({ usage }: UsedRow) => tokensOf(usage), format: count },
  errors: {
    name: 'Errors',
    of: ({ refused = 0, failed = 0 }: UsedRow) => refused + failed,
    format: count,
  },
} as const;

export type Measure = keyof typeof MEASURES;

/** The measure that the address names; spend where it names none. */
export function measureIn(params: URLSearchParams): Measure {
  return (Object.keys(MEASURES) as Measure[]).find((known) => known === params.get('measure')) ?? 'spend';
}

/** The measures as a choice shows them. */
export const MEASURE_CHOICES = Object.entries(MEASURES).map(([value, { name }]) => [value, name] as const);

/** The charge of a row, as a decimal string. */
export function chargeOf({ credits, charged }: UsedRow): string {
  return credits ?? charged ?? '0.000000';
}

/** Tokens of all modalities: uncached and cached input, cache writes and output. */
export function tokensOf(usage: UsageView): number {
  return Object.entries(usage).reduce(
    (sum, [unit, amount]) => sum + (unit.endsWith('_tokens') ? amount : 0),
    0,
  );
}

/** Sum of an amount over rows. */
export function sumBy<Row>(rows: readonly Row[], amountOf: (row: Row) => number): number {
  return rows.reduce((sum, row) => sum + amountOf(row), 0);
}
