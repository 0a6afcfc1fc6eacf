import type { KeyView } from '../../../api/keys/key-view.ts';
import { rounded } from '../format/amount.ts';
import { thisPeriod } from '../format/words.ts';
import { Amount } from '../ui/amount.tsx';
import { Bar } from '../ui/elements.tsx';

/** Spend of a key in its current period, with the share of its limit, in one line of a table. */
export function KeySpend({ of }: { of: KeyView }) {
  const { spending_current: spent, spending_limit: limit, spending_period: period } = of;
  if (limit === null) {
    return (
      <span className="key-spend">
        <Amount of={spent} isInRow /> <small>{thisPeriod(period)}</small>
      </span>
    );
  }
  const part = limit === 0 ? 1 : Number(spent) / limit;
  return (
    <span className="key-spend">
      <Amount of={spent} isInRow />{' '}
      <small>
        / {rounded(limit)} {thisPeriod(period)}
      </small>
      <Bar part={part} full={part >= 1} />
    </span>
  );
}
