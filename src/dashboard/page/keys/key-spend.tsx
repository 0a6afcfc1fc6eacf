import type { KeyView } from '../../../api/keys/key-view.ts';
import { credits } from '../format/credits.ts';
import { thisPeriod } from '../format/words.ts';
import { Bar } from '../ui/elements.tsx';

/** Spend of a key in its current period, with the share of its limit. */
export function KeySpend({ of }: { of: KeyView }) {
  const { spending_current: spent, spending_limit: limit, spending_period: period } = of;
  if (limit === null) {
    return (
      <span className="key-spend">
        {credits(spent)} <small>{thisPeriod(period)}</small>
      </span>
    );
  }
  const part = limit === 0 ? 1 : Number(spent) / limit;
  return (
    <span className="key-spend">
      {credits(spent)}{' '}
      <small>
        of {credits(limit)} {thisPeriod(period)}
      </small>
      <Bar part={part} full={part >= 1} />
    </span>
  );
}
