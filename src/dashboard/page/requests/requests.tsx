import { Button, Drawer, SegmentedControl, TextInput } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { callDuration } from '../format/duration.ts';
import { useScope } from '../session/scope.ts';
import { StackedBars } from '../ui/chart.tsx';
import { chosenOf, useChoices } from '../ui/choices.ts';
import { Empty } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { Page } from '../ui/page.tsx';
import { FIRST_PAGE, Paged, useCursor } from '../ui/pager.tsx';
import { type RangeName, RangePicker, useRange } from '../ui/range.tsx';
import { Loading, Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { CallPanel } from './call-panel.tsx';
import {
  type CallPage,
  callColumns,
  GROUP_COLUMNS,
  groupFilter,
  groupKey,
  type Summary,
} from './columns.tsx';
import { ChosenFilters, Facets, FILTERS } from './facets.tsx';
import '../style/requests.css';

const RANGES: readonly RangeName[] = ['15m', '1h', '24h', '7d', '30d'];
const RANGE: RangeName = '7d';
const PAGE = 50;
const LIVE_MS = 3_000;
/** Widths from which the facets have room beside the list, which has more columns over all accounts. */
const WIDE = { own: '(min-width: 80rem)', operated: '(min-width: 80rem)', operator: '(min-width: 100rem)' };

/** Every model call, refused ones too: when, how many, why, and each one. All of it is under the same filter. */
export default function RequestsPage() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const cursor = useCursor();
  const isGrouped = choices.view === 'grouped';
  const range = useRange(RANGE, choices.live === 'on');
  const isLive = choices.live === 'on' && range.name !== 'own' && cursor === '';
  const isWide = useMediaQuery(WIDE[scope.kind], undefined, { getInitialValueInEffect: false });
  const filter = new URLSearchParams({ ...chosenOf(choices, FILTERS), ...within(range) });
  const how = { placeholderData: keepPreviousData, ...(isLive && { refetchInterval: LIVE_MS }) };
  const summary = useQuery({ ...read<Summary>(scope, `${scope.api}calls/summary/?${filter}`), ...how });
  const page = new URLSearchParams({ limit: String(PAGE), ...(cursor !== '' && { before: cursor }) });
  const list = useQuery({
    ...read<CallPage>(scope, `${scope.api}calls/?${filter}&${page}`),
    ...how,
    enabled: !isGrouped,
  });
  const facets = summary.data ? <Facets of={summary.data} /> : <Loading />;
  return (
    <Page
      title="Requests"
      actions={
        <>
          <FindById />
          <Export path={`${scope.api}calls/?${filter}`} file="requests" formats={['csv', 'jsonl']} />
        </>
      }
    >
      <div className="requests-head">
        <RangePicker names={RANGES} fallback={RANGE} />
        <div className="actions">
          {!isWide && <FiltersButton>{facets}</FiltersButton>}
          {range.name !== 'own' && (
            <Button
              size="xs"
              variant={isLive ? 'filled' : 'default'}
              aria-pressed={isLive}
              onClick={() => choose({ ...FIRST_PAGE, live: isLive ? '' : 'on' })}
            >
              Live
            </Button>
          )}
        </div>
      </div>
      <ChosenFilters of={summary.data} />
      <div className={isWide ? 'requests requests-wide' : 'requests'}>
        {isWide && (
          <aside className="facets" aria-label="Filters">
            {facets}
          </aside>
        )}
        <div aria-busy={summary.isPlaceholderData || list.isPlaceholderData}>
          <section className="card" aria-label="Summary">
            <Shown of={summary}>{(sums) => <Sums of={sums} />}</Shown>
          </section>
          <SegmentedControl
            aria-label="View"
            size="xs"
            className="requests-view"
            value={isGrouped ? 'grouped' : 'list'}
            onChange={(view) => choose({ ...FIRST_PAGE, view: view === 'list' ? '' : view })}
            data={[
              { value: 'list', label: 'List' },
              { value: 'grouped', label: 'Grouped errors' },
            ]}
          />
          {isGrouped ? (
            <Shown of={summary}>{({ groups }) => <Groups of={groups} />}</Shown>
          ) : (
            <Shown of={list}>
              {({ calls, next }) => (
                <Paged label="Pages of requests" next={next} isLoading={list.isPlaceholderData}>
                  <Table
                    label="Requests"
                    columns={callColumns(scope)}
                    rows={calls}
                    rowKey={({ id }) => id}
                    onOpen={({ id }) => choose({ call: id })}
                    empty={<Nothing />}
                    // A live list would announce each new call.
                    {...(summary.data && !isLive && { found: foundWords(summary.data.total) })}
                  />
                </Paged>
              )}
            </Shown>
          )}
        </div>
      </div>
      {choices.call && (
        <CallPanel id={choices.call} calls={list.data?.calls ?? []} groups={summary.data?.groups ?? []} />
      )}
    </Page>
  );
}

/** The range as the API takes it, which counts its last instant, too. */
function within({ from, to }: { from: string; to: string }): Record<string, string> {
  return {
    ...(from !== '' && { from }),
    ...(to !== '' && { to: new Date(Date.parse(to) - 1).toISOString() }),
  };
}

function foundWords(total: number): string {
  return `${count(total)} ${total === 1 ? 'request' : 'requests'}`;
}

const RESULTS = [
  { id: 'ok', name: 'OK', tone: 'good' },
  { id: 'refused', name: 'Refused', tone: 'warning' },
  { id: 'failed', name: 'Failed', tone: 'bad' },
] as const;

/** Calls over time by result, with their durations. */
function Sums({ of: { total, buckets, bucket, duration_ms, first_byte_ms } }: { of: Summary }) {
  const { choose } = useChoices();
  const bars = buckets.map(({ at, ok, refused, failed }) => ({ at, values: { ok, refused, failed } }));
  return (
    <>
      <StackedBars
        label="Requests by result"
        series={RESULTS}
        buckets={bars}
        unit={bucket}
        onZoom={(from, to) => choose({ ...FIRST_PAGE, range: '', live: '', from, to })}
        empty={<p className="hint">No requests in this range.</p>}
      />
      {total > 0 && (
        <p className="hint requests-times">
          <strong>{foundWords(total)}</strong>
          {duration_ms.p50 !== null && <span>Duration: {percentilesWords(duration_ms)}</span>}
          {first_byte_ms.p50 !== null && <span>First byte: {percentilesWords(first_byte_ms)}</span>}
        </p>
      )}
    </>
  );
}

function percentilesWords({ p50, p95 }: Summary['duration_ms']): string {
  return `p50 ${callDuration(p50 ?? 0)}, p95 ${callDuration(p95 ?? 0)}`;
}

/** Equal errors, a row each; opening one shows its calls. */
function Groups({ of: groups }: { of: Summary['groups'] }) {
  const { choose } = useChoices();
  return (
    <Table
      label="Grouped errors"
      columns={GROUP_COLUMNS}
      rows={groups}
      rowKey={groupKey}
      onOpen={(group) => choose({ ...FIRST_PAGE, ...groupFilter(group), view: '', sort: '' })}
      initialSort="-count"
      empty={<Empty title="No errors in this range" />}
    />
  );
}

function Nothing() {
  const { choices } = useChoices();
  const isFiltered = FILTERS.some((name) => choices[name]);
  const isPast = Boolean(choices.from || choices.to);
  return (
    <Empty title={isFiltered ? 'No results' : 'No requests in this range'}>
      <p>
        {isFiltered && 'Change or clear the filters, or choose a longer range.'}
        {!isFiltered && isPast && 'Choose a longer range, or zoom out.'}
        {!isFiltered && !isPast && 'Calls appear here when they end; refused ones within two seconds.'}
      </p>
    </Empty>
  );
}

/** Field that opens a request by its id, whatever the filters show. */
function FindById() {
  const { choose } = useChoices();
  const [id, setId] = useState('');
  const find = (event: FormEvent) => {
    event.preventDefault();
    if (id.trim() === '') return;
    choose({ call: id.trim() });
    setId('');
  };
  return (
    <form onSubmit={find}>
      <TextInput
        size="sm"
        aria-label="Find by request ID"
        placeholder="Find by request ID"
        spellCheck={false}
        autoComplete="off"
        value={id}
        onChange={(event) => setId(event.currentTarget.value)}
      />
    </form>
  );
}

/** The facets behind a button, where they have no room beside the list. */
function FiltersButton({ children }: { children: ReactNode }) {
  const { choices } = useChoices();
  const [isOpen, setOpen] = useState(false);
  const chosen = FILTERS.filter((name) => choices[name]).length;
  return (
    <>
      <Button size="xs" variant="default" onClick={() => setOpen(true)}>
        {chosen === 0 ? 'Filters' : `Filters (${chosen})`}
      </Button>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        title="Filters"
        position="left"
        size="xs"
        transitionProps={{ duration: 0 }}
      >
        {children}
      </Drawer>
    </>
  );
}
