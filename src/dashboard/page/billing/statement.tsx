import { NativeSelect } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { EntryPageView, EntryView } from '../../../api/ledger/entry-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { useChoices } from '../ui/choices.ts';
import { Card, Empty, Figure, Figures } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { PageLink } from '../ui/link.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { ENTRY_COLUMNS, ENTRY_NAMES, entryWords } from './entries.tsx';
import {
  foldedDay,
  type Line,
  monthName,
  monthsSince,
  type Statement as Sums,
  spanOf,
  statementOf,
} from './fold.ts';

/** Most entries that the API returns at once. */
const MOST = 200;

/** What a month changed of the balance: each top-up and adjustment, and the charges of each day as one line. */
export function Statement({ since }: { since: string }) {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const months = monthsSince(since, Date.now());
  const month = months.find((known) => known === choices.month) ?? (months[0] as string);
  const span = new URLSearchParams(spanOf(month));
  const statement = useQuery({
    queryKey: [scope.path, 'statement', month],
    queryFn: async ({ signal }) => {
      const [report, ...entries] = await Promise.all([
        ask<UsageReportView>(`${scope.api}usage/?group_by=day&${span}`, {
          signal,
          account: scope.accountHeader,
        }),
        ...(['top_up', 'adjustment', 'refund'] as const).map((type) =>
          allEntries(scope, new URLSearchParams({ ...spanOf(month), type }), signal),
        ),
      ]);
      return statementOf(report.rows, entries.flat());
    },
    placeholderData: keepPreviousData,
  });
  return (
    <Card
      title={monthName(month)}
      actions={
        <>
          <NativeSelect
            aria-label="Month"
            value={month}
            onChange={(event) =>
              choose({ month: event.currentTarget.value === months[0] ? '' : event.currentTarget.value })
            }
            data={months.map((value) => ({ value, label: monthName(value) }))}
          />
          <Export path={`${scope.api}ledger/?${span}`} file={`ledger-${month}`} />
        </>
      }
    >
      <Shown of={statement}>{(sums) => <Month of={sums} month={month} />}</Shown>
      {choices.day && !choices.entry && <DayPanel day={choices.day} />}
    </Card>
  );
}

/** Every entry of a filter, page by page. What people enter by hand is few. */
async function allEntries(scope: Scope, filter: URLSearchParams, signal: AbortSignal): Promise<EntryView[]> {
  const entries: EntryView[] = [];
  for (let before: string | null = ''; before !== null; ) {
    const page: EntryPageView = await ask(
      `${scope.api}ledger/?${filter}&limit=${MOST}${before === '' ? '' : `&before=${before}`}`,
      { signal, account: scope.accountHeader },
    );
    entries.push(...page.entries);
    before = page.next;
  }
  return entries;
}

const COLUMNS: readonly Column<Line>[] = [
  { id: 'day', title: 'Day (UTC)', cell: ({ day }) => dayName(day) },
  {
    id: 'what',
    title: 'What',
    cell: ({ entry }) => (entry ? entryWords(entry) : 'Charges'),
  },
  {
    id: 'requests',
    title: 'Requests',
    kind: 'number',
    cell: ({ calls }) => (calls === undefined ? '–' : count(calls)),
  },
  {
    id: 'credits',
    title: 'Credits',
    kind: 'number',
    phone: 'figure',
    cell: ({ credits }) => <Amount of={credits} isInRow isChange />,
  },
];

function Month({ of: { lines, free, sums }, month }: { of: Sums; month: string }) {
  const { choose } = useChoices();
  return (
    <>
      <Figures>
        {(['top_up', 'adjustment', 'charge', 'refund'] as const).map((type) => (
          <Figure key={type} name={`${ENTRY_NAMES[type]}s`}>
            <Amount of={sums[type]} isChange />
          </Figure>
        ))}
        <Figure name="Change">
          <Amount of={sums.change} isChange />
        </Figure>
      </Figures>
      <Table
        label={`Statement of ${monthName(month)}`}
        columns={COLUMNS}
        rows={lines}
        rowKey={({ id }) => id}
        rowName={(line) =>
          line.entry
            ? `${dayName(line.day)}: ${ENTRY_NAMES[line.entry.type]}`
            : `${dayName(line.day)}: charges`
        }
        onOpen={({ day, entry }) => choose(entry ? { entry: entry.id } : { day })}
        empty={
          <Empty title="Nothing changed the balance in this month">
            <p>Top-ups and charges appear here.</p>
          </Empty>
        }
      />
      <p className="hint">
        {free > 0 &&
          `${count(free)} ${free === 1 ? 'request' : 'requests'} on days without a charge cost nothing and ${free === 1 ? 'is' : 'are'} left out. `}
        {sums.refund !== '0.000000' && 'A refund is taken off the charges of the day of its call. '}
      </p>
    </>
  );
}

/** The charges and refunds of a day, without those that are 0. */
function DayPanel({ day }: { day: string }) {
  const scope = useScope();
  const { choose } = useChoices();
  const span = new URLSearchParams({ from: day, to: day });
  const loaded = useQuery(read<EntryPageView>(scope, `${scope.api}ledger/?${span}&limit=${MOST}`));
  return (
    <Panel title={`Charges of ${dayName(day)}`} onClose={() => choose({ day: '' })}>
      <Shown of={loaded}>
        {({ entries, next }) => {
          const { shown, free, sum } = foldedDay(entries);
          return (
            <>
              <Table
                label={`Charges of ${dayName(day)}`}
                columns={ENTRY_COLUMNS.filter(
                  ({ id }) => id === 'time' || id === 'entry' || id === 'credits',
                )}
                rows={shown}
                rowKey={({ id }) => id}
                onOpen={({ id }) => choose({ entry: id })}
                empty={<Empty title="Nothing was charged" />}
              />
              {next === null ? (
                <p className="hint">
                  Sum <Amount of={sum} isChange />.
                  {free > 0 &&
                    ` ${count(free)} ${free === 1 ? 'request' : 'requests'} that cost nothing ${free === 1 ? 'is' : 'are'} left out.`}
                </p>
              ) : (
                <p>
                  These are the latest of the day.{' '}
                  <PageLink to="billing" choices={{ view: 'entries', from: day, to: day }}>
                    Show all entries of {dayName(day)}
                  </PageLink>
                </p>
              )}
            </>
          );
        }}
      </Shown>
    </Panel>
  );
}
