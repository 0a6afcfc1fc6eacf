import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { AccountPageView, ListedAccountView } from '../../../api/account/account-view.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { agoWords } from '../format/duration.ts';
import { daysInWords } from '../home/pace.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { chosenOf, useChoices } from '../ui/choices.ts';
import { Ago, Badge, Email, Empty } from '../ui/elements.tsx';
import { ClearFilters, Search } from '../ui/filters.tsx';
import { PageLink } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Paged, useCursor } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';

const PAGE = 50;
/** Order while the address has none: those who spend most come first. */
const INITIAL_SORT = '-spend';

/** The operator's list of all accounts, searched and sorted by the gateway. */
export default function AccountsPage() {
  const { choices } = useChoices();
  const after = useCursor();
  const query = new URLSearchParams({
    limit: String(PAGE),
    sort: choices.sort ?? INITIAL_SORT,
    ...(after !== '' && { after }),
    ...chosenOf(choices, ['email']),
  });
  const page = useQuery({
    ...read<AccountPageView>(useScope(), `/api/admin/accounts/?${query}`),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Accounts"
      actions={
        <Button component={PageLink} to="accounts/new">
          Create account
        </Button>
      }
    >
      <search className="filters">
        <Search name="email" label="Email address" placeholder="Any part of it" />
        <ClearFilters names={['email']} />
      </search>
      <Shown of={page}>
        {({ accounts, next }) => (
          <Paged
            label="Pages of accounts"
            words={['Previous', 'Next']}
            next={next}
            isLoading={page.isFetching}
          >
            <Table
              label="Accounts"
              columns={COLUMNS}
              rows={accounts}
              rowKey={({ id }) => id}
              serverSort
              initialSort={INITIAL_SORT}
              found={`${count(accounts.length)}${next === null ? '' : ' or more'} accounts found`}
              empty={<NoAccounts isSearch={Boolean(choices.email)} />}
            />
          </Paged>
        )}
      </Shown>
    </Page>
  );
}

function NoAccounts({ isSearch }: { isSearch: boolean }) {
  return isSearch ? (
    <Empty title="No results">
      <p>No account's email address contains this.</p>
    </Empty>
  ) : (
    <Empty title="No accounts yet">
      <p>An account has a balance, keys and members. Create the first one.</p>
    </Empty>
  );
}

/** Columns have the names by which the gateway sorts. */
const COLUMNS: readonly Column<ListedAccountView>[] = [
  {
    id: 'id',
    title: 'Account',
    sort: ({ id }) => id,
    cell: ({ id, name, email }) => (
      <div>
        <PageLink to={`accounts/${id}/home`}>{name === email ? <Email address={email} /> : name}</PageLink>
        {name !== email && (
          <span className="sub">
            <Email address={email} />
          </span>
        )}
      </div>
    ),
  },
  {
    id: 'refused',
    title: 'Status',
    phone: 'figure',
    cell: (account) => (
      <>
        <AccountStatus of={account} />
        {account.is_active && account.refused_24h > 0 && (
          <span className="sub">{count(account.refused_24h)} refused in 24 h</span>
        )}
      </>
    ),
  },
  {
    id: 'balance',
    title: 'Balance',
    kind: 'number',
    sort: ({ credits_balance }) => credits_balance,
    cell: ({ credits_balance }) => <Amount of={credits_balance} isInRow />,
  },
  {
    id: 'spend',
    title: 'Spent in 30 days',
    kind: 'number',
    sort: ({ spent_30d }) => Number(spent_30d),
    cell: ({ spent_30d }) => <Amount of={spent_30d} isInRow />,
  },
  {
    id: 'lasts',
    title: 'Lasts',
    kind: 'number',
    from: 'wide',
    sort: ({ lasts_days }) => lasts_days ?? 0,
    cell: ({ lasts_days }) => (lasts_days === null || lasts_days === 0 ? '–' : daysInWords(lasts_days)),
  },
  {
    id: 'last_used',
    title: 'Last used',
    kind: 'number',
    sort: ({ last_used_at }) => last_used_at ?? '',
    cell: ({ last_used_at: at }) => (at === null ? 'never' : <Ago at={at} words={agoWords(at)} />),
  },
];

/** True if calls of the account are refused for want of credits, whatever is left of the balance. */
export function isOutOfCredits({ credits_balance, out_of_credits }: ListedAccountView): boolean {
  return credits_balance <= 0 || out_of_credits;
}

/** The worst that is true of an account. */
export function AccountStatus({ of }: { of: ListedAccountView }) {
  if (!of.is_active) return <Badge kind="plain">Inactive</Badge>;
  if (isOutOfCredits(of)) return <Badge kind="bad">No credits</Badge>;
  if (of.lasts_days !== null && of.lasts_days < 1) return <Badge kind="warning">Lasts less than a day</Badge>;
  if (of.credits_balance < of.alert_threshold) return <Badge kind="warning">Low credits</Badge>;
  return <Badge kind="good">Active</Badge>;
}
