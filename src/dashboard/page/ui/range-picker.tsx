import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { choose, query } from '../route.ts';
import { Day } from './filters.tsx';

/** A span of time as the API takes it. */
export interface Range {
  /** Choice in the address: `24h`, `7d`, `30d`, `90d` or `own`. */
  readonly name: RangeName;
  /** UTC days, both included; for `24h` rolling timestamps. */
  readonly from: string;
  readonly to: string;
}

const NAMES = ['24h', '7d', '30d', '90d', 'own'] as const;
export type RangeName = (typeof NAMES)[number];

const LABELS: Readonly<Record<RangeName, string>> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  own: 'Custom',
};

const DAY_MS = 86_400_000;

/**
 * The range that the address names: `range=7d`, or `from` and `to` (UTC days, both included), which are `own`. Days are
 * UTC days, today included; 24 hours are rolling (specification section 8).
 */
export function rangeOf(params: URLSearchParams, fallback: RangeName = '30d', now = Date.now()): Range {
  const from = params.get('from') ?? '';
  const to = params.get('to') ?? '';
  if (from !== '' || to !== '') return { name: 'own', from, to };
  const name = NAMES.find((known) => known === params.get('range')) ?? fallback;
  if (name === '24h') {
    return { name, from: new Date(now - DAY_MS).toISOString(), to: new Date(now).toISOString() };
  }
  const days = name === 'own' ? 30 : Number.parseInt(name, 10);
  return { name, from: dayOf(now - (days - 1) * DAY_MS), to: dayOf(now) };
}

/** The range as reports of usage take it: days, or nothing for the last 24 hours, which are theirs. */
export function usageRange({ name, from, to }: Range): { from: string; to: string } {
  return name === '24h' ? { from: '', to: '' } : { from, to };
}

/** UTC day of a moment, `2026-11-24`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The range of a page, in its address. `also` are choices that another range resets, as the page of a table. */
export function RangePicker({
  fallback = '30d',
  also = {},
}: {
  fallback?: RangeName;
  also?: Readonly<Record<string, string>>;
}) {
  const range = rangeOf(query.value, fallback);
  const [isOwn, setOwn] = useState(range.name === 'own');
  const name = isOwn ? 'own' : range.name;
  const take = (chosen: RangeName) => {
    setOwn(chosen === 'own');
    if (chosen !== 'own') choose({ ...also, range: chosen === fallback ? '' : chosen, from: '', to: '' });
  };
  const set = (change: { from?: string; to?: string }) =>
    choose({ ...also, range: '', from: range.from.slice(0, 10), to: range.to.slice(0, 10), ...change });
  return (
    <div className="range">
      <SegmentedControl
        aria-label="Range"
        size="xs"
        value={name}
        onChange={(chosen) => take(chosen as RangeName)}
        data={NAMES.map((value) => ({ value, label: LABELS[value] }))}
      />
      {name === 'own' && (
        <div className="filters">
          <Day label="From (UTC)" value={range.from.slice(0, 10)} onValue={(from) => set({ from })} />
          <Day label="To (UTC)" value={range.to.slice(0, 10)} onValue={(to) => set({ to })} />
        </div>
      )}
    </div>
  );
}
