import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { count } from '../format/credits.ts';
import { useZone, type Zone } from '../format/zone.ts';
import {
  type Bar,
  type Bucket,
  barsOf,
  barWords,
  labelsOf,
  type Series,
  ticksOf,
  type Unit,
} from './chart-bars.ts';

export type { Bucket, Series } from './chart-bars.ts';

const HEIGHT = 160;
const PLOT = { top: 8, bottom: HEIGHT - 22, left: 44, right: 4 };
const COLORS = 7;
const AXIS = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
/** Least height of a value above 0, so that one failure is seen among a thousand calls. */
const LEAST_HEIGHT = 3;

/**
 * Stacked bars over time, with a legend, the values of a bar on hover and focus, and the same numbers as a table on
 * demand. With `onZoom`, a click on a bar or a drag over several asks for their span of time.
 */
export function StackedBars({
  label,
  series,
  buckets,
  unit,
  format = count,
  onZoom,
  empty,
}: {
  label: string;
  series: readonly Series[];
  buckets: readonly Bucket[];
  unit: Unit;
  format?: (value: number) => string;
  onZoom?: (from: string, to: string) => void;
  empty?: ReactNode;
}) {
  const zone = useZone();
  const [isTable, setTable] = useState(false);
  const [at, setAt] = useState<number>();
  const bars = useMemo(() => barsOf(buckets, series, unit, zone), [buckets, series, unit, zone]);
  const shown = at === undefined ? undefined : bars[at];
  if (bars.length === 0 || (empty !== undefined && bars.every(({ sum }) => sum === 0))) return <>{empty}</>;
  const zoom =
    onZoom &&
    ((first: number, last: number) => {
      const [from, to] = [bars[Math.min(first, last)]?.from, bars[Math.max(first, last)]?.to];
      if (from !== undefined && to !== undefined) onZoom(from, to);
    });
  const figureOf = (index: number) =>
    shown ? (shown.values[index] ?? 0) : bars.reduce((sum, { values }) => sum + (values[index] ?? 0), 0);
  const drawn = { label, series, bars, unit, zone, format };
  return (
    <figure className="chart" aria-label={label}>
      <Plot {...drawn} at={at} setAt={setAt} zoom={zoom} />
      <div className="chart-foot">
        <ul className="legend" aria-label={`Legend of ${label}`}>
          {series.map((one, index) => (
            <li key={one.id}>
              <Swatch of={one} index={index} />
              {one.name} <data value={figureOf(index)}>{format(figureOf(index))}</data>
            </li>
          ))}
          <li className="legend-time">{shown ? shown.words : 'in all'}</li>
        </ul>
        <button type="button" className="link" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
          View as table
        </button>
      </div>
      {isTable && <Numbers {...drawn} />}
    </figure>
  );
}

interface Drawn {
  readonly label: string;
  readonly series: readonly Series[];
  readonly bars: readonly Bar[];
  readonly unit: Unit;
  readonly zone: Zone;
  readonly format: (value: number) => string;
}

/** Handles pointer and keyboard over the bars. For screen readers it is a slider, whose values are those of the bars. */
function Plot(
  props: Drawn & {
    at: number | undefined;
    setAt: (at: number | undefined) => void;
    zoom: ((first: number, last: number) => void) | undefined;
  },
) {
  const { label, series, bars, format, at, setAt, zoom } = props;
  const [plot, width] = useWidth();
  const [dragged, setDragged] = useState<number>();
  const last = bars.length - 1;
  const within = (place: number) => Math.max(0, Math.min(last, place));
  const here = within(at ?? last);
  const placeOf = ({ clientX, currentTarget }: PointerEvent) => {
    const x = clientX - currentTarget.getBoundingClientRect().left - PLOT.left;
    return within(Math.floor((x / (width - PLOT.left - PLOT.right)) * bars.length));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moved = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: last }[event.key];
    if (moved !== undefined) setAt(within(moved));
    else if (event.key === 'Enter') zoom?.(here, here);
    else if (event.key === 'Escape' && dragged !== undefined) setDragged(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={plot}
      className={zoom ? 'chart-plot chart-zooms' : 'chart-plot'}
      role="slider"
      tabIndex={0}
      aria-label={zoom ? `${label}. Arrow keys move between bars, Enter zooms in` : label}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={here}
      aria-valuetext={barWords(bars[here], series, format)}
      onKeyDown={onKeyDown}
      onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && setAt(here)}
      onBlur={() => setAt(undefined)}
      onPointerMove={(event) => setAt(placeOf(event))}
      onPointerLeave={() => dragged === undefined && setAt(undefined)}
      onPointerCancel={() => setDragged(undefined)}
      onPointerDown={(event) => {
        if (!zoom || event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        setDragged(placeOf(event));
      }}
      onPointerUp={(event) => {
        if (dragged === undefined) return;
        setDragged(undefined);
        zoom?.(dragged, placeOf(event));
      }}
    >
      <Bars {...props} width={width} marked={at === undefined ? undefined : [at, dragged ?? at]} />
    </div>
  );
}

function Bars({
  series,
  bars,
  unit,
  zone,
  width,
  marked,
}: Drawn & {
  width: number;
  /** First and last marked bar, in either order. */
  marked: readonly [number, number] | undefined;
}) {
  const patterns = useId();
  const ticks = ticksOf(bars);
  const step = (width - PLOT.left - PLOT.right) / bars.length;
  const scale = (PLOT.bottom - PLOT.top) / (ticks.at(-1) ?? 1);
  const wide = Math.max(1, Math.min(36, step * 0.8));
  const [first, last] = marked ? [Math.min(...marked), Math.max(...marked)] : [0, -1];
  return (
    <svg width="100%" height={HEIGHT} aria-hidden="true">
      <defs>
        {series.map((one, index) => (
          <Pattern key={one.id} of={one} index={index} id={`${patterns}${index}`} />
        ))}
      </defs>
      {last >= first && (
        <rect
          className="pointed"
          x={PLOT.left + first * step}
          y={PLOT.top}
          width={(last - first + 1) * step}
          height={PLOT.bottom - PLOT.top}
        />
      )}
      {ticks.map((tick) => {
        const y = PLOT.bottom - tick * scale;
        return (
          <g key={tick}>
            <line className="grid" x1={PLOT.left} x2={width - PLOT.right} y1={y} y2={y} />
            <text x={PLOT.left - 6} y={y + 4} textAnchor="end">
              {AXIS.format(tick)}
            </text>
          </g>
        );
      })}
      {bars.map(({ from, values }, place) => {
        let y = PLOT.bottom;
        return values.map((value, index) => {
          if (value <= 0) return null;
          const height = Math.max(LEAST_HEIGHT, value * scale);
          y -= height;
          return (
            <rect
              key={`${from} ${series[index]?.id}`}
              x={PLOT.left + (place + 0.5) * step - wide / 2}
              y={y}
              width={wide}
              height={height - 1}
              fill={`url(#${patterns}${index})`}
            />
          );
        });
      })}
      {labelsOf(bars, unit, zone, width).map(({ place, words }) => (
        <text
          key={place}
          x={PLOT.left + (place + 0.5) * step}
          y={HEIGHT - 6}
          textAnchor={place === 0 && step < 60 ? 'start' : 'middle'}
        >
          {words}
        </text>
      ))}
    </svg>
  );
}

/** Fill of a series: its color with the next of four patterns, of which the first is none. */
function Pattern({ of, index, id }: { of: Series; index: number; id: string }) {
  const kind = of.tone === undefined ? index % 4 : { good: 0, warning: 1, bad: 2 }[of.tone];
  const turn = [0, 45, 0, -45][kind] ?? 0;
  return (
    <pattern
      id={id}
      className={classOf(of, index)}
      width="6"
      height="6"
      patternUnits="userSpaceOnUse"
      patternTransform={`rotate(${turn})`}
    >
      <rect width="6" height="6" fill="currentColor" />
      {kind === 2 && <circle cx="3" cy="3" r="1.4" fill="var(--surface)" />}
      {kind % 2 === 1 && <rect width="1.8" height="6" fill="var(--surface)" opacity="0.55" />}
    </pattern>
  );
}

function Swatch({ of, index }: { of: Series; index: number }) {
  const id = useId();
  return (
    <svg width="12" height="12" aria-hidden="true">
      <defs>
        <Pattern of={of} index={index} id={id} />
      </defs>
      <rect width="12" height="12" rx="2" fill={`url(#${id})`} />
    </svg>
  );
}

function classOf({ tone }: Series, index: number): string {
  return `series-${tone ?? index % COLORS}`;
}

/** The same numbers as a table, the latest first. */
function Numbers({ label, series, bars, unit, format }: Drawn) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section className="table-frame few" tabIndex={0} aria-label={`${label} as a table`}>
      <table>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{unit === 'day' ? 'Day (UTC)' : 'Time'}</th>
            {series.map(({ id, name }) => (
              <th key={id} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.toReversed().map(({ from, words, values }) => (
            <tr key={from}>
              <th scope="row">{words}</th>
              {series.map(({ id }, index) => (
                <td key={id} className="number">
                  {format(values[index] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Width of an element, in pixels. */
function useWidth(): readonly [RefObject<HTMLDivElement | null>, number] {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
