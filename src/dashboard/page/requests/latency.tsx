import { useState } from 'react';
import { type CallFilter, type CallsBase, type ListedCall, readCalls } from '../api/calls.ts';
import { useLoad } from '../api/use-load.ts';
import { callsInWords, count } from '../format/credits.ts';
import { callDuration } from '../format/duration.ts';
import { Table } from '../ui/table.tsx';

const MOST = 200;

/** Latency and time to first byte of the latest answered calls, as median and 95th percentile; on demand by model. */
export function Latency({
  of: base,
  filter,
  subject,
}: {
  of: CallsBase;
  filter: CallFilter;
  subject: string;
}) {
  const [isByModel, setByModel] = useState(false);
  const { data } = useLoad(
    (signal) => readCalls(base, { ...filter, result: 'ok' }, '', MOST, signal),
    `${base} ${subject}`,
  );
  const calls = data?.calls ?? [];
  const total = percentiles(calls.map(({ duration_ms }) => duration_ms));
  const first = percentiles(calls.map(({ first_byte_ms }) => first_byte_ms));
  if (total === undefined) return null;
  const byModel = Map.groupBy(calls, ({ model }) => model ?? '–');
  return (
    <div className="latency">
      <p className="hint">
        Latency of the last {callsInWords(calls.length)}: {inWords(total)}.
        {first && ` First byte: ${inWords(first)}.`}
        {byModel.size > 1 && (
          <>
            {' '}
            <button
              type="button"
              className="link"
              aria-expanded={isByModel}
              onClick={() => setByModel(!isByModel)}
            >
              By model
            </button>
          </>
        )}
      </p>
      {isByModel && byModel.size > 1 && <LatencyTable byModel={byModel} />}
    </div>
  );
}

/** A row for each model, the slowest by its median first. */
function LatencyTable({ byModel }: { byModel: ReadonlyMap<string, readonly ListedCall[]> }) {
  const rows = [...byModel].map(([model, calls]) => ({
    model,
    calls: calls.length,
    total: percentiles(calls.map(({ duration_ms }) => duration_ms)),
    first: percentiles(calls.map(({ first_byte_ms }) => first_byte_ms)),
  }));
  return (
    <Table
      label="Latency by model"
      columns={[
        'Model',
        ['Calls', 'number'],
        ['p50', 'number'],
        ['p95', 'number'],
        ['First byte p50', 'number'],
        ['First byte p95', 'number'],
      ]}
    >
      {rows
        .toSorted((one, other) => (other.total?.p50 ?? 0) - (one.total?.p50 ?? 0))
        .map(({ model, calls, total, first }) => (
          <tr key={model} className="compact facts">
            <th scope="row" className="clip">
              {model}
            </th>
            <td className="number">{count(calls)}</td>
            {[total?.p50, total?.p95, first?.p50, first?.p95].map((time, index) => (
              <td key={index} className={index === 0 ? 'number compact-figure' : 'number'}>
                {time === undefined ? '–' : callDuration(time)}
              </td>
            ))}
          </tr>
        ))}
    </Table>
  );
}

interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** The median and the 95th percentile, by nearest rank; undefined if no time is known. */
function percentiles(times: readonly (number | null)[]): Percentiles | undefined {
  const known = times.filter((time) => time !== null).toSorted((one, other) => one - other);
  const at = (share: number) => known[Math.ceil(share * known.length) - 1] ?? 0;
  return known.length === 0 ? undefined : { p50: at(0.5), p95: at(0.95) };
}

function inWords({ p50, p95 }: Percentiles): string {
  return `p50 ${callDuration(p50)}, p95 ${callDuration(p95)}`;
}
