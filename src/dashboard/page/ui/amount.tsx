import { exactly, rounded } from '../format/amount.ts';
import { isGain } from '../format/credits.ts';

/** Most characters that a figure shows at its full size: `1,234,567.89`. */
const LONG = 12;

/**
 * Credits rounded to two decimals, with the exact amount as a tooltip and on focus. In a table, `isInRow` keeps the
 * amount out of the tab order; `isChange` puts a plus before what adds to a balance.
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
  const text = sign + rounded(amount);
  return (
    <data
      className={classOf(text)}
      value={String(amount)}
      title={`${sign}${exactly(amount)}`}
      tabIndex={isInRow ? undefined : 0}
    >
      {text}
    </data>
  );
}

function classOf(text: string): string {
  if (text === '0.00') return 'amount zero';
  return text.length > LONG ? 'amount amount-long' : 'amount';
}
