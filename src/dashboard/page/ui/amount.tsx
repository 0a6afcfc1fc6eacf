import { exactly, rounded } from '../format/amount.ts';

/**
 * Credits rounded to two decimals, with the exact amount as a tooltip and on focus. In a table whose rows open details,
 * `isInRow` keeps the amount out of the tab order.
 */
export function Amount({ of: amount, isInRow = false }: { of: number | string; isInRow?: boolean }) {
  return (
    <data
      className="amount"
      value={String(amount)}
      title={exactly(amount)}
      tabIndex={isInRow ? undefined : 0}
    >
      {rounded(amount)}
    </data>
  );
}
