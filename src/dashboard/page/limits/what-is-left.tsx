import { useEffect, useState } from 'react';
import type { LimitView } from '../../../api/keys/limit-view.ts';
import type { AccountLimitView } from '../../../api/limits/account-limit-view.ts';
import { type LimitPeriod, PERIOD_WORDS } from '../../../domain/limit-periods.ts';
import type { SpendingOwner } from '../../../domain/spending-limits.ts';
import { durationWords, msUntilOtherWords } from '../format/duration.ts';
import { Amount } from '../ui/amount.tsx';
import { Bar, Time } from '../ui/elements.tsx';
import '../style/limits.css';

/** A limit with the id and the name of its owner, where limits of several owners are shown. */
export interface NamedLimit extends LimitView {
  readonly id?: number;
  readonly name?: string;
  readonly person_id?: number | null;
}

/** A row of the list in the form of an owner's own limits. */
export function limitOf({ of, left, ...limit }: AccountLimitView): NamedLimit {
  const { type, ...owner } = of;
  return { ...limit, ...owner, of: type, remaining: left };
}

/**
 * What is left of spending limits: text first, then a bar; the limit with the least left comes first. `yours` are the
 * owners that are the reader's own; `none` is said where there is no limit.
 */
export function WhatIsLeft({
  limits,
  yours = [],
  none,
}: {
  limits: readonly NamedLimit[];
  yours?: readonly SpendingOwner[];
  none?: string;
}) {
  if (limits.length === 0) return none === undefined ? null : <p className="hint">{none}</p>;
  return (
    <ul className="limits-left">
      {limits.toSorted(byLeft).map((limit, index) => (
        // Two limits can be equal.
        <li key={index}>
          <span className="limit-name">{limitTitle(limit, yours)}</span>
          <span>
            <Left of={limit} />, <Reset of={limit} />
          </span>
          {limit.spent !== null && <Bar part={usedPart(limit)} full={isReached(limit)} />}
        </li>
      ))}
    </ul>
  );
}

/** `1.90 of 5.00 left`; the limit alone for a reader who may not see what is spent. */
export function Left({ of: limit, isInRow = false }: { of: LimitView; isInRow?: boolean }) {
  const whole = <Amount of={limit.credits} isInRow={isInRow} />;
  if (limit.remaining === null) return <>{whole} credits</>;
  return (
    <>
      {isReached(limit) && <strong className="limit-reached">Limit reached: </strong>}
      <strong>
        <Amount of={limit.remaining} isInRow={isInRow} />
      </strong>{' '}
      of {whole} left
    </>
  );
}

const DAY_MS = 86_400_000;

/** `resets in 2 h 14 min`, which counts down; the time itself from a day on. A column's title says that it resets. */
export function Reset({
  of: { period, resets_at: at },
  isInColumn = false,
}: {
  of: LimitView;
  isInColumn?: boolean;
}) {
  const left = useTimeLeft(at);
  if (period === 'total') return isInColumn ? 'Never' : 'never resets';
  if (at === null) return isInColumn ? 'After the next call' : 'begins with the next call';
  const when = left < DAY_MS ? `in ${durationWords(left)}` : <Time at={at} brief />;
  return isInColumn ? when : <>resets {when}</>;
}

/** `Weekly limit of the key`, `Weekly limit of Dana`, `Your weekly limit`. */
function limitTitle({ of, period, name }: NamedLimit, yours: readonly SpendingOwner[]): string {
  if (yours.includes(of)) return `Your ${PERIOD_WORDS[period]} limit`;
  const whose = of === 'account' || name === undefined ? `the ${of}` : name;
  return `${periodName(period)} limit of ${whose}`;
}

/** `Weekly`. */
export function periodName(period: LimitPeriod): string {
  const words = PERIOD_WORDS[period];
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Part of a limit that is spent, from 0; a limit of 0 is spent. */
export function usedPart({ spent, credits }: LimitView): number {
  return credits === 0 ? 1 : Number(spent ?? 0) / credits;
}

export function isReached({ remaining }: LimitView): boolean {
  return remaining !== null && Number(remaining) === 0;
}

/** Order by what is left; a limit whose spend is hidden comes last. */
function byLeft(one: LimitView, other: LimitView): number {
  const left = ({ remaining }: LimitView) => Number(remaining ?? Infinity);
  return left(one) === left(other) ? 0 : left(one) - left(other);
}

/** Milliseconds until a time, by the browser's clock; 0 once it has passed. Draws again as the time runs down. */
function useTimeLeft(until: string | null): number {
  const [, redraw] = useState(0);
  const left = until === null ? 0 : Math.max(0, Date.parse(until) - Date.now());
  useEffect(() => {
    if (left === 0 || left > DAY_MS) return undefined;
    // One more millisecond, because timers may fire early by less than that.
    const timer = setTimeout(() => redraw((count) => count + 1), msUntilOtherWords(left) + 1);
    return () => clearTimeout(timer);
  });
  return left;
}
