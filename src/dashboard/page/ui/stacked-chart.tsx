import { ChartTooltip, CompositeChart } from '@mantine/charts';
import { ColorSwatch } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Table } from './table.tsx';

/** A series of a chart, by its name. Colours are given in order; the last is for "Other". */
export interface ChartRow {
  /** Label of the place on the axis: a day, an hour. */
  readonly label: string;
  /** Values by the names of series. */
  readonly values: Readonly<Record<string, number>>;
  /** Sum of the same place in the previous period, which a dashed line shows. */
  readonly before?: number | undefined;
}

const COLOURS = ['blue.6', 'teal.6', 'orange.6', 'grape.6', 'cyan.6', 'pink.6', 'lime.7'];
const OTHER_COLOUR = 'gray.5';
/** Series that have a colour of their own; the others are summed as "Other". */
const MOST_SERIES = 6;

/**
 * Stacked bars with a legend, and the same numbers as a table for screen readers and for who wants to read them. The
 * series are ordered by their sums; those beyond the sixth are one, "Other".
 */
export function StackedChart({
  title,
  axis,
  rows,
  format,
  colours,
  height = 240,
}: {
  /** Names the chart and its table, as `Spend by model`. */
  title: string;
  /** Name of the first column of the table, as `Day (UTC)`. */
  axis: string;
  rows: readonly ChartRow[];
  /** Writes a value for the tooltip and the table. */
  format: (value: number) => ReactNode;
  /** Colours by series, where they mean something (`red.6` for failed). */
  colours?: Readonly<Record<string, string>>;
  height?: number;
}) {
  const [isTable, setTable] = useState(false);
  const names = seriesOf(rows);
  const sums = rows.map(({ values }) => folded(values, names));
  // Not by their names: the chart reads a dot in one as a path.
  const data = rows.map(({ label, before }, place) => ({
    place,
    label,
    ...Object.fromEntries(names.map((name, index) => [seriesKey(index), sums[place]?.[name] ?? 0])),
    before,
  }));
  const bars = names.map((name, index) => ({
    type: 'bar' as const,
    name: seriesKey(index),
    label: name,
    color: colours?.[name] ?? (name === OTHER ? OTHER_COLOUR : (COLOURS[index] ?? OTHER_COLOUR)),
  }));
  const hasBefore = rows.some(({ before }) => before !== undefined);
  const series = hasBefore ? [...bars, BEFORE] : bars;
  const ticks = ticksTo(
    Math.max(...rows.map(({ values, before = 0 }) => Math.max(before, total(values)))),
    rows.every(({ values }) => Object.values(values).every(Number.isInteger)),
  );
  return (
    <figure className="stacked">
      <div role="img" aria-label={`Chart: ${title}. The table below has the same numbers.`}>
        <CompositeChart
          h={height}
          data={data}
          dataKey="label"
          series={series}
          curveType="linear"
          withDots={false}
          gridAxis="x"
          tickLine="none"
          tooltipProps={{
            content: ({ label, payload = [] }) => {
              const shown = payload.filter(({ value }) => Number(value) !== 0);
              return (
                <ChartTooltip
                  label={shown.length === 0 ? `${label}: none` : label}
                  payload={shown}
                  series={series}
                  valueFormatter={(value) => String(format(value))}
                />
              );
            },
          }}
          yAxisProps={{
            tickFormatter: (value: number) => AXIS.format(value),
            width: 48,
            ticks,
            domain: [0, ticks.at(-1) ?? 1],
          }}
          composedChartProps={{ margin: { top: 8 } }}
          barProps={{ stackId: 'stack', maxBarSize: 36, isAnimationActive: false }}
          tooltipAnimationDuration={0}
        />
      </div>
      <div className="chart-foot">
        <ul className="legend" aria-label={`Colors of the chart ${title}`}>
          {series.map(({ name, label, color }) => (
            <li key={name}>
              {name === BEFORE.name ? (
                <span className="legend-line" />
              ) : (
                <ColorSwatch
                  color={`var(--mantine-color-${color.replace('.', '-')})`}
                  size={10}
                  withShadow={false}
                />
              )}
              {label}
            </li>
          ))}
        </ul>
        <button type="button" className="link" aria-expanded={isTable} onClick={() => setTable(!isTable)}>
          View as table
        </button>
      </div>
      {isTable && (
        <Table label={title} columns={[axis, ...series.map(({ label }) => [label, 'number'] as const)]}>
          {rows
            .map(({ label, before }, place) => (
              <tr key={label + String(place)}>
                <th scope="row">{label}</th>
                {names.map((name) => (
                  <td key={name} className="number">
                    {format(sums[place]?.[name] ?? 0)}
                  </td>
                ))}
                {hasBefore && <td className="number">{format(before ?? 0)}</td>}
              </tr>
            ))
            .toReversed()}
        </Table>
      )}
    </figure>
  );
}

const OTHER = 'Other';
const BEFORE = {
  type: 'line',
  name: 'before',
  label: 'Previous period',
  color: 'gray.6',
  strokeDasharray: '4 4',
} as const;
const AXIS = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** Steps that people count in, in tenths: axes read 0, 2, 4 rather than 0, 1.7, 3.4. */
const STEPS = [1, 2, 5, 10];
const MOST_STEPS = 4;

/** Marks of an axis from 0 to the first one that is not below `max`; `isWhole`: of whole numbers only. */
function ticksTo(max: number, isWhole: boolean): number[] {
  if (max <= 0) return [0, 1];
  const least = max / MOST_STEPS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * (STEPS.find((tenths) => tenths * power >= least) ?? 10);
  const whole = isWhole ? Math.max(1, step) : step;
  // Without the noise of floats, which would be written out.
  return Array.from({ length: Math.ceil(max / whole) + 1 }, (_, at) => Number((at * whole).toPrecision(12)));
}

function total(values: ChartRow['values']): number {
  return Object.values(values).reduce((sum, value) => sum + value, 0);
}

function seriesKey(index: number): string {
  return `series${index}`;
}

/** Names of the series, the largest first, at most six and "Other". */
function seriesOf(rows: readonly ChartRow[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const { values } of rows) {
    for (const [name, value] of Object.entries(values)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  const names = [...sums].sort((one, other) => other[1] - one[1]).map(([name]) => name);
  return names.length > MOST_SERIES + 1 ? [...names.slice(0, MOST_SERIES), OTHER] : names;
}

function folded(values: ChartRow['values'], names: readonly string[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [name, value] of Object.entries(values)) {
    const place = names.includes(name) ? name : OTHER;
    sums[place] = (sums[place] ?? 0) + value;
  }
  return sums;
}
