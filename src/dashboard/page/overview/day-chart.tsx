import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { callsInWords, credits } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import type { DaySpend } from './use-spend.ts';

const HEIGHT_PX = 220;
const DARK = matchMedia('(prefers-color-scheme: dark)');

/** Bar chart of spend by day, with the day under the pointer in words below. Screen readers get a table instead. */
export function DayChart({ days }: { days: readonly DaySpend[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  useEffect(() => {
    const place = frame.current;
    if (!place) return;
    let chart = draw(place, days, setPointed);
    // A canvas does not follow the colour scheme by itself, so the chart is drawn again when that changes.
    const repaint = () => {
      chart.destroy();
      chart = draw(place, days, setPointed);
    };
    DARK.addEventListener('change', repaint);
    const widths = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: HEIGHT_PX }));
    widths.observe(place);
    return () => {
      DARK.removeEventListener('change', repaint);
      widths.disconnect();
      chart.destroy();
    };
  }, [days]);
  const day = pointed === null ? undefined : days[pointed];
  return (
    <figure className="chart">
      <div
        ref={frame}
        role="img"
        aria-label="Bar chart of spend by day; the table below has the same numbers"
      />
      <figcaption>
        {day
          ? `${dayName(day.day)}: ${credits(day.credits)} credits in ${callsInWords(day.calls)}`
          : 'Hover over a bar for details.'}
      </figcaption>
    </figure>
  );
}

function draw(
  place: HTMLElement,
  days: readonly DaySpend[],
  onPointed: (index: number | null) => void,
): uPlot {
  const colour = colours(place);
  const axis = { stroke: colour('--muted'), font: '12px system-ui, sans-serif', ticks: { show: false } };
  const bars = uPlot.paths.bars?.({ size: [0.7, 28], radius: 0.2 });
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT_PX,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, x: false, y: false },
      scales: {
        x: { time: false, range: [-0.5, days.length - 0.5] },
        y: { range: (_chart, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          space: 64,
          values: (_chart, places) => places.map((index) => dayName(days[index]?.day ?? '')),
          incrs: [1, 2, 5, 7, 10],
        },
        {
          ...axis,
          grid: { stroke: colour('--line'), width: 1 },
          size: 44,
          values: (_chart, amounts) => amounts.map((amount) => AXIS.format(amount)),
        },
      ],
      series: [
        {},
        {
          fill: colour('--accent'),
          width: 0,
          points: { show: false },
          ...(bars ? { paths: bars } : {}),
        },
      ],
      hooks: { setCursor: [(chart) => onPointed(mark(chart))] },
    },
    [days.map((_, index) => index), days.map((day) => Number(day.credits))],
    place,
  );
}

/** Highlights the bar under the pointer. Returns its index; null where there is none. */
function mark(chart: uPlot): number | null {
  const place = chart.cursor.idx ?? null;
  const known = chart.over.querySelector<HTMLElement>('.chart-pointed');
  const stripe = known ?? chart.over.appendChild(document.createElement('div'));
  stripe.className = 'chart-pointed';
  stripe.hidden = place === null;
  if (place !== null) {
    const left = chart.valToPos(place - 0.5, 'x');
    stripe.style.left = `${left}px`;
    stripe.style.width = `${chart.valToPos(place + 0.5, 'x') - left}px`;
  }
  return place;
}

const AXIS = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

function colours(place: HTMLElement): (name: string) => string {
  const style = getComputedStyle(place);
  return (name) => style.getPropertyValue(name).trim();
}
