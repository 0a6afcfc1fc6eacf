import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { type FormEvent, useEffect, useMemo, useState } from 'react';
import { fromInput, toInput } from '../format/time.ts';
import { useZone } from '../format/zone.ts';
import { useChoices } from './choices.ts';
import { FIRST_PAGE } from './pager.tsx';
import { MINUTE_MS, RANGES, type Range, type RangeName, rangeOf, zoomedOut } from './range-of.ts';

export { RANGES, type Range, type RangeName } from './range-of.ts';

/**
 * The range in the address: `range=7d`, or `from` and `to`, which are its `own`. A live one moves on with every minute.
 */
export function useRange(fallback: RangeName, isLive = false): Range {
  const { range, from = '', to = '' } = useChoices().choices;
  const [minute, setMinute] = useState(0);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(() => setMinute(Math.floor(Date.now() / MINUTE_MS)), 1_000);
    return () => clearInterval(timer);
  }, [isLive]);
  return useMemo(
    () => rangeOf({ range, from, to }, fallback, Date.now()),
    [range, from, to, fallback, isLive && minute],
  );
}

/** Choice of the range of a page: one of `names`, or from and to in the zone of the reader. */
export function RangePicker({ names, fallback }: { names: readonly RangeName[]; fallback: RangeName }) {
  const { choose } = useChoices();
  const range = useRange(fallback);
  const { name, from, to } = range;
  const chooseSpan = (span: { from: string; to: string }) => choose({ ...FIRST_PAGE, range: '', ...span });
  return (
    <div className="range">
      <SegmentedControl
        aria-label="Range"
        size="xs"
        value={name}
        onChange={(chosen) => {
          if (chosen === 'own') chooseSpan({ from, to });
          else choose({ ...FIRST_PAGE, range: chosen === fallback ? '' : chosen, from: '', to: '' });
        }}
        data={[
          ...names.map((value) => ({ value, label: RANGES[value][0] })),
          { value: 'own', label: 'Custom' },
        ]}
      />
      {name === 'own' && (
        // Another span in the address, as after Back or a zoom, begins the fields again.
        <Span key={`${from} ${to}`} from={from} to={to} onSpan={chooseSpan} />
      )}
    </div>
  );
}

/** Fields of the start and the end of a range, to the minute. What is half typed does not act. */
function Span({
  from,
  to,
  onSpan,
}: {
  from: string;
  to: string;
  onSpan: (span: { from: string; to: string }) => void;
}) {
  const zone = useZone();
  const [typed, setTyped] = useState({ from: toInput(from, zone), to: toInput(to, zone) });
  const [fault, setFault] = useState('');
  const apply = (event: FormEvent) => {
    event.preventDefault();
    const span = { from: fromInput(typed.from, zone), to: fromInput(typed.to, zone) };
    if (span.from === undefined || span.to === undefined) setFault('Enter both times.');
    else if (span.from >= span.to) setFault('The end must be after the start.');
    else onSpan({ from: span.from, to: span.to });
  };
  const field = (name: 'from' | 'to', label: string) => (
    <TextInput
      type="datetime-local"
      size="xs"
      aria-label={`${label}${zone === 'utc' ? ' (UTC)' : ''}`}
      defaultValue={typed[name]}
      error={fault !== '' && name === 'to' ? fault : undefined}
      onChange={({ currentTarget: { value } }) => {
        setFault('');
        setTyped((before) => ({ ...before, [name]: value }));
      }}
    />
  );
  const isChanged = typed.from !== toInput(from, zone) || typed.to !== toInput(to, zone);
  return (
    <form className="range-span" onSubmit={apply}>
      {field('from', 'From')}
      {field('to', 'To')}
      {isChanged && (
        <Button type="submit" size="xs">
          Apply
        </Button>
      )}
      {from !== '' && to !== '' && (
        <Button size="xs" variant="default" onClick={() => onSpan(zoomedOut({ from, to }, Date.now()))}>
          Zoom out
        </Button>
      )}
    </form>
  );
}
