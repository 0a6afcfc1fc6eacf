import { BarChart } from '@mantine/charts';
import { type ReactNode, useState } from 'react';
import { Table } from './table.tsx';

/** A series of a chart, by its name. Colours are given in order; the last is for "Other". */
export interface ChartRow {
  /** Label of the place on the axis: a day, an hour. */
  readonly label: string;
  /** Values by the names of series. */
  readonly values: Readonly<Record<string, number>>;
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
  const data = rows.map(({ label, values }, place) => ({ place, label, ...folded(values, names) }));
  const series = names.map((name, index) => ({
    name,
    color: colours?.[name] ?? (name === OTHER ? OTHER_COLOUR : (COLOURS[index] ?? OTHER_COLOUR)),
  }));
  return (
    <figure className="stacked">
      <div role="img" aria-label={`Chart: ${title}. The table below has the same numbers.`}>
        <BarChart
          h={height}
          data={data}
          dataKey="label"
          type="stacked"
          series={series}
          withLegend
          legendProps={{ verticalAlign: 'bottom' }}
          gridAxis="x"
          tickLine="none"
          valueFormatter={(value) => String(format(value))}
          yAxisProps={{ tickFormatter: (value: number) => AXIS.format(value), width: 48 }}
          barProps={{ maxBarSize: 36, isAnimationActive: false }}
          tooltipAnimationDuration={0}
        />
      </div>
      <details onToggle={(event) => setTable(event.currentTarget.open)}>
        <summary>View as table</summary>
        {isTable && (
          <Table label={title} columns={[axis, ...names.map((name) => [name, 'number'] as const)]}>
            {data.toReversed().map((row) => (
              <tr key={row.place}>
                <th scope="row">{row.label}</th>
                {names.map((name) => (
                  <td key={name} className="number">
                    {format(Number((row as Record<string, unknown>)[name] ?? 0))}
                  </td>
                ))}
              </tr>
            ))}
          </Table>
        )}
      </details>
    </figure>
  );
}

const OTHER = 'Other';
const AXIS = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

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
