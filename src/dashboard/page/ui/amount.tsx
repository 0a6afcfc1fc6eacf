import { exactly, rounded } from '../format/amount.ts';
import { isGain } from '../format/credits.ts';

/**
 * Credits rounded to two decimals, with the exact amount as a tooltip and on focus. In a table, `isInRow` keeps the amount
 * out of the tab order; `isChange` puts a plus before what adds to a balance.
 */
export function Amount({
  of: amount,
  isInRow = false,
  isChange = false,
}: {
  of: number | string;
  isInRow?: boolean;
  isChange?: boolean;
}) {
  const sign = isChange && isGain(String(amount)) ? '+' : '';
  return (
    <data
      className="amount"
      value={String(amount)}
      title={`${sign}${exactly(amount)}`}
      tabIndex={isInRow ? undefined : 0}
    >
      {sign}
      {rounded(amount)}
    </data>
  );
}
