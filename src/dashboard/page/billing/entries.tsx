import { TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { EntryPageView, EntryView } from '../../../api/ledger/entry-view.ts';
import type { UsageReportView } from '../../../api/usage/usage-view.ts';
import type { EntryType } from '../../../domain/ledger-entry.ts';
import { read } from '../data/query.ts';
import { isGain } from '../format/credits.ts';
import { shortUsage } from '../format/usage.ts';
import { keyWords, OUTCOME_NAMES } from '../requests/columns.tsx';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { chosenOf, useChoices } from '../ui/choices.ts';
import { Badge, Empty, Time } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { Choice, ClearFilters } from '../ui/filters.tsx';
import { FIRST_PAGE, Paged, useCursor } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';

const PAGE = 50;
const FILTERS = ['type', 'key_id', 'model', 'from', 'to'] as const;
/** Keys and models to choose from, those with the most credits first. */
const MOST_CHOICES = 100;

export const ENTRY_NAMES: Readonly<Record<EntryType, string>> = {
  charge: 'Charge',
  top_up: 'Top-up',
  adjustment: 'Adjustment',
  refund: 'Refund',
  expired_hold: 'Expired hold',
};

/** Name of an entry with its model or note. */
export function entryWords({ type, model, note }: EntryView) {
  const beside = model ?? note;
  return (
    <span>
      {ENTRY_NAMES[type] ?? type}
      {beside && <span className="hint"> {beside}</span>}
    </span>
  );
}

export const ENTRY_COLUMNS: readonly Column<EntryView>[] = [
  { id: 'time', title: 'Time', cell: ({ created_at }) => <Time at={created_at} seconds brief /> },
  { id: 'entry', title: 'Entry', cell: entryWords },
  {
    id: 'credits',
    title: 'Credits',
    kind: 'number',
    phone: 'figure',
    cell: ({ credits }) => (
      <span className={isGain(credits) ? 'gain' : undefined}>
        <Amount of={credits} isInRow isChange />
      </span>
    ),
  },
  {
    id: 'balance_after',
    title: 'Balance after',
    kind: 'number',
    phone: 'hidden',
    cell: ({ balance_after }) => (balance_after === null ? '–' : <Amount of={balance_after} isInRow />),
  },
  { id: 'key', title: 'Key', cell: (entry) => <div className="clip">{keyWords(entry)}</div> },
  {
    id: 'used',
    title: 'Used',
    from: 'widest',
    phone: 'hidden',
    cell: ({ usage, estimated }) => (
      <div className="clip">
        {shortUsage(usage) || '–'} {estimated && <Badge kind="plain">estimated</Badge>}
      </div>
    ),
  },
  { id: 'status', title: 'Status', cell: (entry) => <EntryStatus of={entry} /> },
];

/** The ledger: every change of the balance, newest first, by the filters in the address. */
export function Entries() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const cursor = useCursor();
  const chosen = chosenOf(choices, FILTERS);
  const filter = new URLSearchParams(chosen);
  const page = new URLSearchParams({ limit: String(PAGE), ...(cursor !== '' && { before: cursor }) });
  const list = useQuery({
    ...read<EntryPageView>(scope, `${scope.api}ledger/?${filter}&${page}`),
    placeholderData: keepPreviousData,
  });
  const isFiltered = Object.keys(chosen).length > 0;
  return (
    <>
      <div className="filters">
        <Choice name="type" label="Type" none="All" values={Object.entries(ENTRY_NAMES)} />
        <KeyAndModel />
        <Day name="from" label="From (UTC)" />
        <Day name="to" label="To (UTC)" />
        <ClearFilters names={FILTERS} />
        <Export path={`${scope.api}ledger/?${filter}`} file="ledger" formats={['csv', 'jsonl']} />
      </div>
      <Shown of={list}>
        {({ entries, next }) => (
          <Paged label="Pages of the ledger" next={next} isLoading={list.isPlaceholderData}>
            <Table
              label="Ledger entries"
              columns={ENTRY_COLUMNS}
              rows={entries}
              rowKey={({ id }) => id}
              onOpen={({ id }) => choose({ entry: id })}
              found={`${entries.length}${next === null ? '' : ' or more'} entries`}
              empty={
                <Empty title={isFiltered ? 'No results' : 'The ledger is empty'}>
                  <p>{isFiltered ? 'Change or clear the filters.' : 'Top-ups and charges appear here.'}</p>
                </Empty>
              }
            />
          </Paged>
        )}
      </Shown>
    </>
  );
}

/** Filters by the keys and models of the last 30 days. One in the address stays a choice without calls, too. */
function KeyAndModel() {
  const scope = useScope();
  const { key_id, model } = useChoices().choices;
  const keys = useQuery(read<UsageReportView>(scope, `${scope.api}usage/?group_by=key`)).data?.rows ?? [];
  const models = useQuery(read<UsageReportView>(scope, `${scope.api}usage/?group_by=model`)).data?.rows ?? [];
  const names = Map.groupBy(keys, ({ key_name }) => key_name);
  const nameOf = (row: { key_id?: number | null; key_name?: string | null }) =>
    // Keys of one name are told apart by their ids.
    (names.get(row.key_name)?.length ?? 0) > 1
      ? `${row.key_name} (no. ${row.key_id})`
      : (row.key_name ?? `Key ${row.key_id}`);
  const ofKeys = mostSpent(keys).flatMap((row) =>
    row.key_id == null ? [] : [[String(row.key_id), nameOf(row)] as const],
  );
  const ofModels = mostSpent(models).flatMap(({ model: name }) =>
    name == null ? [] : [[name, name] as const],
  );
  return (
    <>
      <Choice name="key_id" label="Key" none="All" values={withChosen(ofKeys, key_id, `Key ${key_id}`)} />
      <Choice name="model" label="Model" none="All" values={withChosen(ofModels, model, model)} />
    </>
  );
}

function mostSpent(rows: UsageReportView['rows']): UsageReportView['rows'] {
  return rows.toSorted((one, other) => Number(other.credits) - Number(one.credits)).slice(0, MOST_CHOICES);
}

function withChosen(
  values: readonly (readonly [string, string])[],
  chosen: string | undefined,
  name: string | undefined,
) {
  const isKnown = chosen === undefined || values.some(([value]) => value === chosen);
  return isKnown ? values : [...values, [chosen, name ?? chosen] as const];
}

/** A filter of a UTC day. */
function Day({ name, label }: { name: 'from' | 'to'; label: string }) {
  const { choices, choose } = useChoices();
  return (
    <TextInput
      type="date"
      label={label}
      size="xs"
      value={choices[name] ?? ''}
      onChange={(event) => choose({ ...FIRST_PAGE, [name]: event.currentTarget.value }, 'replace')}
    />
  );
}

export function EntryStatus({ of: { status, outcome } }: { of: EntryView }) {
  if (status === null) return '–';
  if (outcome === null || outcome === 'complete') return status;
  // A status of success says nothing of how the answer ended.
  return <Badge kind="bad">{status < 400 ? OUTCOME_NAMES[outcome] : status}</Badge>;
}
