import { count } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { percent } from '../home/pace.ts';
import type { Scope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import type { Choices } from '../ui/choices.ts';
import { Email, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import type { Column } from '../ui/table.tsx';
import { GROUP_NAMES, type Group, type ReportRow, type Sums } from './sums.ts';

/** Name of a group for the chart and for sorting. Keys of several accounts have the same name. */
export function nameOf({ id, row }: Sums, group: Group): string {
  if (group === 'key') {
    const name = row?.key_name ?? (id === '' ? 'No key' : `Key ${id}`);
    return row?.account_email ? `${name} · ${row.account_email}` : name;
  }
  if (group === 'account') return row?.account_email ?? `Account ${id}`;
  return id || (group === 'model' ? 'No model' : 'No provider');
}

/** Names of groups as `nameOf` has them, with the ids of those that share one. */
export function distinctNames(groups: readonly Sums[], group: Group): ReadonlyMap<string, string> {
  const byName = Map.groupBy(groups, (sums) => nameOf(sums, group));
  return new Map(
    groups.map((sums) => {
      const name = nameOf(sums, group);
      return [sums.id, (byName.get(name)?.length ?? 0) > 1 ? `${name} (no. ${sums.id})` : name];
    }),
  );
}

/** Where a table of groups leads to: the requests of the range that is shown. */
interface Shown {
  readonly scope: Scope;
  readonly group: Group;
  readonly isHours: boolean;
  readonly range: Choices;
  /** Names by id, which differ. */
  readonly names: ReadonlyMap<string, string>;
}

/** Columns of the table and the file. */
export function columnsOf(shown: Shown): readonly Column<Sums>[] {
  const { scope, group, isHours } = shown;
  const isOfOperator = scope.kind === 'operator';
  const title = group === 'time' && isHours ? 'Hour' : GROUP_NAMES[group];
  const columns: readonly (Column<Sums> | false)[] = [
    {
      id: group === 'time' ? (isHours ? 'hour' : 'day') : group === 'upstream' ? 'provider' : group,
      title,
      cell: (sums) => (sums.row ? <Name of={sums} row={sums.row} {...shown} /> : 'Total'),
      sort: (sums) => nameOf(sums, group),
      csv: ({ id, row }) =>
        (group === 'key' ? row?.key_name : group === 'account' ? row?.account_email : id) ?? '',
    },
    isOfOperator &&
      group === 'key' && {
        id: 'account',
        title: 'Account',
        cell: ({ row }) => row?.account_id != null && <AccountLink of={row} />,
        sort: ({ row }) => row?.account_email ?? '',
        csv: ({ row }) => row?.account_email ?? '',
      },
    number('requests', 'Requests', ({ requests }) => requests),
    number('refused', 'Refused', ({ refused }) => refused, 'wide'),
    number('failed', 'Failed', ({ failed }) => failed, 'wide'),
    number('tokens', 'Tokens', ({ tokens }) => tokens),
    { ...amount('credits', isOfOperator ? 'Charged' : 'Credits', ({ credits }) => credits), phone: 'figure' },
    isOfOperator && amount('cost', 'Cost', ({ cost }) => cost),
    isOfOperator && amount('margin', 'Margin', ({ margin }) => margin),
    isOfOperator && {
      ...amount('charged_with_cost', 'Cost known', ({ charged_with_cost }) => charged_with_cost),
      cell: coverage,
      sort: (sums) => shareOf(sums),
    },
  ];
  return columns.filter((column) => column !== false);
}

/** Columns of the file alone: ids, and each unit that was used. */
export function fileColumns(group: Group, groups: readonly Sums[]): readonly Column<Sums>[] {
  const units = [...new Set(groups.flatMap(({ usage }) => Object.keys(usage)))].toSorted();
  const column = (id: string, csv: (sums: Sums) => unknown): Column<Sums> => ({
    id,
    title: id,
    cell: () => null,
    csv: (sums) => String(csv(sums) ?? ''),
  });
  return [
    ...(group === 'key' ? [column('key_id', ({ row }) => row?.key_id)] : []),
    ...(groups.some(({ row }) => row?.account_id != null)
      ? [column('account_id', ({ row }) => row?.account_id)]
      : []),
    ...units.map((unit) => column(unit, ({ usage }) => (usage as Record<string, number>)[unit] ?? 0)),
  ];
}

function number(
  id: string,
  title: string,
  of: (sums: Sums) => number | undefined,
  from?: 'wide',
): Column<Sums> {
  return {
    id,
    title,
    kind: 'number',
    ...(from && { from }),
    cell: (sums) => {
      const value = of(sums);
      return value === undefined ? '–' : count(value);
    },
    sort: (sums) => of(sums) ?? -1,
    csv: (sums) => String(of(sums) ?? ''),
  };
}

function amount(id: string, title: string, of: (sums: Sums) => string | null): Column<Sums> {
  return {
    id,
    title,
    kind: 'number',
    cell: (sums) => {
      const value = of(sums);
      return value === null ? '–' : <Amount of={value} isInRow />;
    },
    sort: (sums) => Number(of(sums) ?? Number.NEGATIVE_INFINITY),
    csv: (sums) => of(sums) ?? '',
  };
}

function shareOf({ credits, charged_with_cost }: Sums): number {
  return Number(credits) === 0 ? -1 : Number(charged_with_cost) / Number(credits);
}

/** Share of the charges whose cost is known. */
function coverage(sums: Sums): string {
  return shareOf(sums) < 0 ? '–' : percent(Number(sums.charged_with_cost), Number(sums.credits));
}

function AccountLink({ of: { account_id, account_email } }: { of: ReportRow }) {
  return (
    <PageLink to={`/operator/accounts/${account_id}/usage`}>
      {account_email ? <Email address={account_email} /> : `Account ${account_id}`}
    </PageLink>
  );
}

function Name(props: Shown & { of: Sums; row: ReportRow }) {
  const { of: sums, row, scope, group, isHours, range, names } = props;
  const { id } = sums;
  if (group === 'time') return isHours ? <Time at={id} brief /> : dayName(id);
  if (group === 'account') return id === '' ? 'No account' : <AccountLink of={row} />;
  const name = nameOf(sums, group);
  if (id === '') return name;
  if (group !== 'key') {
    return scope.can('read calls') ? (
      <PageLink to="requests" choices={{ ...range, [group]: id }}>
        {name}
      </PageLink>
    ) : (
      name
    );
  }
  const keyName = row.key_name ?? `Key ${id}`;
  const keys = scope.kind === 'operator' ? `/operator/accounts/${row.account_id}/keys` : 'keys';
  const number = names.get(id) !== name && <span className="sub">No. {id}</span>;
  if (!scope.can('read keys'))
    return (
      <>
        {keyName}
        {number}
      </>
    );
  return (
    <div>
      <PageLink to={`${keys}/${id}`}>{keyName}</PageLink>
      {number}
    </div>
  );
}
