import { type Metrics, readMetrics } from '../api/metrics.ts';
import { useLoad } from '../api/use-load.ts';
import { usePolling } from '../api/use-polling.ts';
import { count } from '../format/credits.ts';
import { durationWords } from '../format/duration.ts';
import { Badge } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';

const REFRESH_MS = 5_000;

interface State {
  readonly part: string;
  readonly kind: 'good' | 'warning' | 'bad';
  readonly word: string;
  readonly detail: string;
}

/** Redis, book, journal, alerts and version of the gateway that answers, in words; read again every few seconds. */
export default function HealthPage() {
  const loaded = useLoad(readMetrics);
  usePolling(loaded, REFRESH_MS);
  return (
    <PageFrame title="Health">
      <p className="lead">
        As seen by the gateway that served this page. The Prometheus rules alert on the same values.
      </p>
      <Shown of={loaded}>
        {(metrics) => (
          <Table label="Health" columns={['Part', 'State', 'Detail']}>
            {statesOf(metrics).map(({ part, kind, word, detail }) => (
              <tr key={part}>
                <th scope="row">{part}</th>
                <td>
                  <Badge kind={kind}>{word}</Badge>
                </td>
                <td>{detail}</td>
              </tr>
            ))}
          </Table>
        )}
      </Shown>
    </PageFrame>
  );
}

function statesOf({ value, sum, label, labels }: Metrics): readonly State[] {
  const failed = ['failed', 'timeout', 'blocked', 'unknown'].reduce(
    (total, status) => total + sum('tollgate_alert_deliveries_total', { status }),
    0,
  );
  const lag = value('tollgate_journal_lag_seconds');
  const refused = value('tollgate_journal_refused');
  const dropped = value('tollgate_refusals_dropped_total');
  const unknown = labels('tollgate_unknown_members_total', 'member');
  return [
    {
      part: 'Redis',
      ...(value('tollgate_redis_up') !== 1
        ? bad('Down', 'Redis does not answer. Calls are refused until it does.')
        : value('tollgate_redis_durable') === 1
          ? good('Redis answers, persists, and evicts nothing.')
          : warning(
              'At risk',
              'Redis answers, but does not persist, or may evict keys. A restart could lose charges.',
            )),
    },
    {
      part: 'Book',
      ...(value('tollgate_book_up') === 1
        ? good('The database answers.')
        : bad('Down', 'The database does not answer. Calls continue; accounts and keys cannot be changed.')),
    },
    {
      part: 'Journal',
      ...(Number.isNaN(lag + refused)
        ? warning('Unknown', 'The journal is in Redis, which does not answer.')
        : refused > 0
          ? bad('Stuck', `The book refuses ${backlogWords(refused)}. The log names each.`)
          : lag > 60
            ? warning(
                'Behind',
                `${backlogWords(value('tollgate_journal_backlog'))} waiting for ${durationWords(lag * 1_000)}.`,
              )
            : good(`${backlogWords(value('tollgate_journal_backlog'))} waiting to be written to the book.`)),
    },
    {
      part: 'Alerts',
      ...(Number.isNaN(value('tollgate_alerts_queued'))
        ? warning('Unknown', 'The queue is in the book, which does not answer.')
        : failed > 0
          ? warning(
              'Failures',
              `${count(failed)} ${failed === 1 ? 'delivery' : 'deliveries'} failed since the start.`,
            )
          : good(
              `${count(sum('tollgate_alert_deliveries_total', { status: 'delivered' }))} delivered since the start, ${count(value('tollgate_alerts_queued'))} waiting.`,
            )),
    },
    {
      part: 'Records of refusals',
      ...(dropped > 0
        ? warning('Dropped', `${count(dropped)} were dropped, because the book did not keep up.`)
        : good(`${count(value('tollgate_refusals_waiting'))} waiting to be written.`)),
    },
    {
      part: 'Request fields',
      ...(unknown.length > 0
        ? warning(
            'Unknown',
            `Not in the price tables, since the start: ${unknown.join(', ')}. Check whether the provider bills for them.`,
          )
        : good('All are in the price tables.')),
    },
    {
      part: 'Calls',
      ...good(
        `${count(value('tollgate_calls_in_flight'))} in flight, ${count(value('tollgate_open_streams'))} of them streams.`,
      ),
    },
    { part: 'Version', ...good(`Tollgate ${label('tollgate_build_info', 'version') ?? 'unknown'}`) },
  ];
}

function backlogWords(entries: number): string {
  return `${count(entries)} ${entries === 1 ? 'entry' : 'entries'}`;
}

function good(detail: string): Omit<State, 'part'> {
  return { kind: 'good', word: 'OK', detail };
}

function warning(word: string, detail: string): Omit<State, 'part'> {
  return { kind: 'warning', word, detail };
}

function bad(word: string, detail: string): Omit<State, 'part'> {
  return { kind: 'bad', word, detail };
}
