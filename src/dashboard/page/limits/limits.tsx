import { SegmentedControl } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { AccountView } from '../../../api/account/account-view.ts';
import type { AccountLimitsView } from '../../../api/limits/account-limit-view.ts';
import { LIMIT_PERIODS } from '../../../domain/limit-periods.ts';
import { POLL_MS, read } from '../data/query.ts';
import { callLimitWords } from '../format/call-limits.ts';
import { count } from '../format/credits.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { Bar, Card, Empty } from '../ui/elements.tsx';
import { Icon } from '../ui/icon.tsx';
import { PageLink } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { isReached, Left, limitOf, type NamedLimit, periodName, Reset, usedPart } from './what-is-left.tsx';

/** Most limits that are listed; the API has no more pages of them. */
const MOST = 200;
const FILTERS = [
  ['', 'All', ''],
  ['over', 'Over 80%', '&min_share=0.8'],
  ['account', 'Account', '&of=account'],
  ['member', 'Members', '&of=member'],
  ['key', 'Keys', '&of=key'],
] as const;

/** Spending limits of an account, its members and keys, compared; each is edited where its owner is. */
export default function LimitsPage() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const [shown, , query] = FILTERS.find(([name]) => name === choices.show) ?? FILTERS[0];
  const limits = useQuery({
    ...read<AccountLimitsView>(scope, `${scope.api}limits/?limit=${MOST}${query}`),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });
  const seesAll = scope.reach('read usage') === 'all';
  return (
    <Page title="Limits">
      <p className="lead">
        {seesAll
          ? 'All limits hold together: a call must fit those of its key, its member and the account.'
          : 'These limits bind your calls. All hold together.'}
      </p>
      {seesAll && <Rates scope={scope} />}
      <div className="filters">
        <SegmentedControl
          aria-label="Limits shown"
          size="xs"
          value={shown}
          onChange={(show) => choose({ show })}
          data={FILTERS.map(([value, label]) => ({ value, label }))}
        />
      </div>
      <Shown of={limits}>
        {({ limits: list, total }) => (
          <>
            <Table
              label="Limits"
              columns={columnsOf(scope)}
              rows={list.map(limitOf)}
              rowKey={({ of, id, period, credits }) => `${of} ${id} ${period} ${credits}`}
              found={total === 1 ? '1 limit' : `${count(total)} limits`}
              empty={<NoLimits isFiltered={shown !== ''} />}
            />
            {total > list.length && (
              <p className="hint">
                The {count(list.length)} most used of {count(total)} limits.
              </p>
            )}
          </>
        )}
      </Shown>
    </Page>
  );
}

function NoLimits({ isFiltered }: { isFiltered: boolean }) {
  const scope = useScope();
  if (isFiltered) return <Empty title="No results" />;
  return (
    <Empty title="No spending limit is set">
      <p>
        {scope.can('change keys')
          ? 'Set one on a key, or for all keys of a member.'
          : 'Calls are bounded by the credits of the account alone.'}
      </p>
    </Empty>
  );
}

const OWNERS = { account: 'Account', member: 'Member', key: 'Key' } as const;

function columnsOf(scope: Scope): readonly Column<NamedLimit>[] {
  return [
    {
      id: 'whose',
      title: 'Whose',
      cell: (limit) => {
        const to = placeOf(limit, scope);
        return (
          <div>
            {to === undefined ? limit.name : <PageLink {...to}>{limit.name}</PageLink>}
            <span className="sub">{OWNERS[limit.of]}</span>
          </div>
        );
      },
      sort: ({ name = '' }) => name,
    },
    {
      id: 'period',
      title: 'Period',
      cell: ({ period }) => periodName(period),
      sort: ({ period }) => LIMIT_PERIODS.indexOf(period),
    },
    {
      id: 'left',
      title: 'Left',
      cell: (limit) => (
        <div className="limit-left">
          <span>
            <Left of={limit} isInRow />
          </span>
          {limit.spent !== null && <Bar part={usedPart(limit)} full={isReached(limit)} />}
        </div>
      ),
      sort: usedPart,
    },
    { id: 'reset', title: 'Resets', cell: (limit) => <Reset of={limit} isInColumn /> },
    { id: 'change', title: 'Change', cell: (limit) => <Change of={limit} scope={scope} /> },
  ];
}

/** Where a limit is edited. That of an account is the operator's alone. */
function Change({ of: limit, scope }: { of: NamedLimit; scope: Scope }) {
  if (limit.of === 'account' && scope.kind === 'own') {
    return (
      <span className="limit-lock">
        <Icon name="lock" /> Set by the operator
      </span>
    );
  }
  const to = mayChange(limit, scope) ? placeOf(limit, scope) : undefined;
  return to === undefined ? (
    'Set by an admin'
  ) : (
    <PageLink {...to} aria-label={`Edit the limits of ${limit.name}`}>
      Edit
    </PageLink>
  );
}

function mayChange({ of, person_id, id }: NamedLimit, { can, reach, me }: Scope): boolean {
  if (of === 'account') return true;
  // Nobody changes their own budget.
  if (of === 'member') return can('change members') && id !== me.person?.id;
  return reach('change keys') === 'all' || (can('change keys') && person_id === me.person?.id);
}

function placeOf(
  { of, id }: NamedLimit,
  scope: Scope,
): { to: string; choices?: Record<string, string> } | undefined {
  if (of === 'key') return scope.can('read keys') ? { to: `keys/${id}` } : undefined;
  if (of === 'account') return scope.kind === 'operated' ? { to: 'settings' } : undefined;
  return scope.can('read members') ? { to: 'members', choices: { member: String(id) } } : undefined;
}

/** Rates of all keys of the account together. */
function Rates({ scope }: { scope: Scope }) {
  const account = useQuery(read<AccountView>(scope, scope.api));
  return (
    <Card title="Rates of all keys together">
      <Shown of={account}>
        {(data) => (
          <p>
            {callLimitWords(data).join(' · ') || 'No rate limits.'}
            {scope.kind === 'own' && <span className="sub">Set by the operator of this gateway.</span>}
          </p>
        )}
      </Shown>
    </Card>
  );
}
