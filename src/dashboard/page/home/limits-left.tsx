import type { LimitView } from '../../../api/keys/limit-view.ts';
import { durationWords } from '../format/duration.ts';
import { limitName } from '../format/limits.ts';
import { Amount } from '../ui/amount.tsx';
import { Ago } from '../ui/elements.tsx';

/** Remaining credits of each spending limit and its reset, one line each. */
export function LimitsLeft({ of }: { of: readonly LimitView[] }) {
  return of.map((limit, index) => (
    // Two limits can be equal.
    <p className="call-limits" key={index}>
      {limitName(limit)}:{' '}
      {limit.remaining !== null && (
        <>
          <strong>
            <Amount of={limit.remaining} />
          </strong>{' '}
          left of{' '}
        </>
      )}
      <Amount of={limit.credits} /> credits
      <Return of={limit} />
    </p>
  ));
}

/** When a limit returns. Its five hours may not have begun. */
function Return({ of: { period, resets_at: at } }: { of: LimitView }) {
  if (period === 'total') return '.';
  if (at === null) return '. Its period begins with the next call.';
  return (
    <>
      , resets <Ago at={at} words={`in ${durationWords(Math.max(0, Date.parse(at) - Date.now()))}`} />.
    </>
  );
}
