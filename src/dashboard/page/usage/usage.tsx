import { Button, SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { changeOf, changeWords, dayOf } from '../home/pace.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { announce } from '../ui/announce.tsx';
import { StackedBars } from '../ui/chart.tsx';
import { chosenOf, useChoices } from '../ui/choices.ts';
import { Card, Empty } from '../ui/elements.tsx';
import { saveFile } from '../ui/export.tsx';
import { Choice } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';
import { type Range, type RangeName, RangePicker, useRange } from '../ui/range.tsx';
import { Shown } from '../ui/shown.tsx';
import { csvOf, Table } from '../ui/table.tsx';
import { columnsOf, distinctNames, fileColumns } from './columns.tsx';
import {
  barsOf,
  compared,
  GROUP_NAMES,
  type Group,
  groupsOf,
  MEASURES,
  type Measure,
  type Report,
  spanBefore,
  sumsOf,
} from './sums.ts';

const RANGES: readonly RangeName[] = ['24h', '7d', '30d', '90d'];
const RANGE: RangeName = '30d';
const DAY_MS = 86_400_000;
/** Longest chosen span that is shown by hour. */
const HOURLY_DAYS = 2;
/** Rows that are drawn; the file has all of them. */
const MOST_ROWS = 500;

/** Credits, requests and tokens over a range by model, key or day; for the operator also cost and margin. */
export default function UsagePage() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const isOfOperator = scope.kind === 'operator';
  const groups = groupsFor(scope);
  const group = groups.find((known) => known === choices.group_by) ?? (groups[0] as Group);
  const measures: readonly Measure[] = isOfOperator
    ? ['credits', 'requests', 'tokens', 'cost', 'margin']
    : ['credits', 'requests', 'tokens'];
  const measure = measures.find((known) => known === choices.measure) ?? 'credits';
  const span = spanOf(useRange(RANGE), Date.now());
  const reports = useReports(scope, span, group);
  return (
    <Page title="Usage">
      <div className="filters">
        <RangePicker names={RANGES} fallback={RANGE} />
        <Choice
          name="group_by"
          label="Group by"
          none={GROUP_NAMES[groups[0] as Group]}
          values={groups.slice(1).map((value) => [value, GROUP_NAMES[value]])}
        />
        <SegmentedControl
          aria-label="Measure"
          size="xs"
          value={measure}
          onChange={(value) => choose({ measure: value === 'credits' ? '' : value })}
          data={measures.map((value) => ({ value, label: MEASURES[value].name }))}
        />
      </div>
      <Shown of={reports}>
        {(shown) =>
          shown.table.rows.length === 0 ? (
            <Empty title="No requests in this range">
              <p>Choose another range.</p>
            </Empty>
          ) : (
            <div aria-busy={reports.isPlaceholderData}>
              <Chart of={shown} measure={measure} scope={scope} />
              <Groups of={shown} scope={scope} />
            </div>
          )
        }
      </Shown>
    </Page>
  );
}

/** What a scope can group by; the first is its default. A key that sees itself has one key. */
function groupsFor({ kind, me }: Scope): readonly Group[] {
  if (kind === 'operator') return ['account', 'key', 'model', 'upstream', 'time'];
  return me.key && !me.key.can_manage ? ['model', 'time'] : ['model', 'key', 'time'];
}

/** UTC days of a report, and its step. Without days, the report is of the last 24 hours. */
interface Span {
  readonly unit: 'hour' | 'day';
  readonly days: { readonly from: string; readonly to: string } | undefined;
}

function spanOf({ name, from, to }: Range, now: number): Span {
  if (name === '24h') return { unit: 'hour', days: undefined };
  // Named ranges count today; chosen ones are the days that they touch.
  const last = name === 'own' && to !== '' ? dayOf(Date.parse(to) - 1) : dayOf(now);
  // An address can have the end of a range alone.
  const first =
    name !== 'own' ? dayOf(Date.parse(from) + DAY_MS) : from === '' ? last : dayOf(Date.parse(from));
  const days = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  return { unit: days <= HOURLY_DAYS ? 'hour' : 'day', days: { from: first, to: last } };
}

interface Reports {
  readonly span: Span;
  readonly group: Group;
  /** By hour or day, and group unless that is too many rows. */
  readonly bars: Report;
  readonly table: Report;
}

/** Reads the report of the chart and of the table, which is the same unless there are too many groups. */
function useReports(scope: Scope, span: Span, group: Group) {
  return useQuery({
    queryKey: [scope.path, 'usage', span, group],
    queryFn: async ({ signal }): Promise<Reports> => {
      const get = (group_by: string, days = span.days) =>
        ask<Report>(`${scope.api}usage/?${new URLSearchParams({ group_by, ...days })}`, {
          signal,
          account: scope.accountHeader,
        });
      try {
        const both = await get(group === 'time' ? span.unit : `${span.unit},${group}`);
        return { span, group, bars: both, table: both };
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.code !== 'invalid_field' || group === 'time') throw error;
        const bars = await get(span.unit);
        const table = await get(group, { from: bars.from, to: bars.to });
        return { span, group, bars, table };
      }
    },
    placeholderData: keepPreviousData,
  });
}

function Chart({ of: reports, measure, scope }: { of: Reports; measure: Measure; scope: Scope }) {
  const { choose } = useChoices();
  const { span, group, bars, table } = reports;
  const { name, format, of } = MEASURES[measure];
  const now = Date.now();
  const title = group === 'time' ? name : `${name} by ${GROUP_NAMES[group].toLowerCase()}`;
  const names = distinctNames(groupsOf(bars.rows, group), group);
  const drawn = barsOf(bars, group, measure, names, now);
  const losses = drawn.buckets.some(({ values }) => Object.values(values).some((value) => value < 0));
  const total = sumsOf([table.total]);
  const isOfCost = measure === 'cost' || measure === 'margin';
  const isKnown = !isOfCost || total.cost !== null;
  return (
    <Card title={title} actions={<strong>{isKnown ? `${format(of(total))} in all` : 'Unknown'}</strong>}>
      <StackedBars
        label={title}
        {...drawn}
        unit={span.unit}
        format={format}
        {...(span.unit === 'day' && {
          onZoom: (from: string, to: string) => choose({ range: '', from, to }),
        })}
        empty={
          <p className="hint">
            {isKnown ? `No ${name.toLowerCase()} in this range.` : 'No cost is known in this range.'}
          </p>
        }
      />
      {bars !== table && (
        <p className="hint">
          There are too many {GROUP_NAMES[group].toLowerCase()}s to draw each one, so the chart shows their
          sum.
          {span.days === undefined && ` The table is of the whole days ${daysWords(table)}.`}
        </p>
      )}
      {losses && <p className="hint">Losses are not drawn. The table has them.</p>}
      {isOfCost && (
        <p className="hint">
          Cost is what providers charge by the price list. It is known for the share of the charges in the
          column “Cost known”; margin is those charges less their cost.
        </p>
      )}
      {span.unit === 'day' && isKnown && <Compared bars={bars} measure={measure} scope={scope} />}
    </Card>
  );
}

/** The whole days of the range against as many days before; today is not over, so it is left out. */
function Compared({ bars, measure, scope }: { bars: Report; measure: Measure; scope: Scope }) {
  const now = Date.now();
  const before = spanBefore(bars, now);
  const query = new URLSearchParams({ group_by: 'day', from: before?.from ?? '', to: before?.to ?? '' });
  const { data } = useQuery({
    ...read<Report>(scope, `${scope.api}usage/?${query}`),
    enabled: before !== undefined,
  });
  if (data === undefined) return null;
  const { format } = MEASURES[measure];
  const sums = compared(bars, data, measure, now);
  if (sums.now === 0 && sums.before === 0) return null;
  const change = changeOf({ spent: String(sums.now), before: String(sums.before) });
  const days = `${count(sums.days)} ${sums.days === 1 ? 'day' : 'days'}`;
  return (
    <p className="hint">
      {format(sums.now)} in {days} without today,{' '}
      {change === undefined
        ? `none in the ${days} before.`
        : `${format(sums.before)} in the ${days} before (${changeWords(change)}).`}
    </p>
  );
}

function daysWords({ from, to }: Report): string {
  return from === to ? dayName(from) : `${dayName(from)} to ${dayName(to)} (UTC)`;
}

/** The groups as a table with their total, and as a file. */
function Groups({ of: { table, group, span }, scope }: { of: Reports; scope: Scope }) {
  const { choices } = useChoices();
  const isHours = span.unit === 'hour';
  const chosen = chosenOf(choices, ['range', 'from', 'to']);
  const range = Object.keys(chosen).length === 0 ? { range: RANGE } : chosen;
  const groups = groupsOf(table.rows, group);
  const names = distinctNames(groups, group);
  const columns = columnsOf({ scope, group, isHours, range, names });
  const sorted = groups.toSorted((one, other) => Number(other.credits) - Number(one.credits));
  const what = group === 'time' ? (isHours ? 'hour' : 'day') : GROUP_NAMES[group].toLowerCase();
  const save = () => {
    saveFile(csvOf([...columns, ...fileColumns(group, groups)], sorted), 'usage.csv');
    announce('Exported.');
  };
  const total = { ...sumsOf([table.total]), row: undefined };
  return (
    <Card
      title={`${groups.length === 1 ? `1 ${what}` : `${count(groups.length)} ${what}s`}`}
      actions={
        <Button size="xs" variant="default" onClick={save}>
          Export CSV
        </Button>
      }
    >
      {groups.length > MOST_ROWS && (
        <p className="hint">
          These are the {MOST_ROWS} with the most credits, of {count(groups.length)}. The export has all.
        </p>
      )}
      <Table
        label={`Usage by ${what}`}
        columns={columns}
        rows={sorted.slice(0, MOST_ROWS)}
        rowKey={({ id }) => id}
        initialSort={group === 'time' ? `-${what}` : '-credits'}
        total={total}
        found={`${count(groups.length)} ${what}s`}
      />
    </Card>
  );
}
