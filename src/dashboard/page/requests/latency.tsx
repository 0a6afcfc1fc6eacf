import { type CallFilter, type CallsBase, readCalls } from '../api/calls.ts';
import { useLoad } from '../api/use-load.ts';
import { callsInWords } from '../format/credits.ts';
import { callDuration } from '../format/duration.ts';

const MOST = 200;

/** How long the latest answered calls took, and their first bytes: the median and the 95th percentile. */
export function Latency({
  of: base,
  filter,
  subject,
}: {
  of: CallsBase;
  filter: CallFilter;
  subject: string;
}) {
  const { data } = useLoad(
    (signal) => readCalls(base, { ...filter, result: 'ok' }, '', MOST, signal),
    `${base} ${subject}`,
  );
  const calls = data?.calls ?? [];
  const total = percentiles(calls.map(({ duration_ms }) => duration_ms));
  const first = percentiles(calls.map(({ first_byte_ms }) => first_byte_ms));
  if (total === undefined) return null;
  return (
    <p className="hint latency">
      Latency of the last {callsInWords(calls.length)}: {total}.{first && ` First byte: ${first}.`}
    </p>
  );
}

/** The median and the 95th percentile in words, by nearest rank; undefined where no time is known. */
function percentiles(times: readonly (number | null)[]): string | undefined {
  const known = times.filter((time) => time !== null).toSorted((one, other) => one - other);
  const at = (share: number) => callDuration(known[Math.ceil(share * known.length) - 1] ?? 0);
  return known.length === 0 ? undefined : `p50 ${at(0.5)}, p95 ${at(0.95)}`;
}
