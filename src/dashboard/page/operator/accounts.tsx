import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { listAccounts } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { dayName } from '../format/time.ts';
import { daysInWords } from '../home/figures.tsx';
import { choose, query } from '../route.ts';
import { Amount } from '../ui/amount.tsx';
import { Badge, Empty } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { type AccountSums, readAccountSums } from './account-sums.ts';

const PAGE = 50;

/** The operator's page of all accounts, in pages, with a search by a part of the e-mail address. */
export function Accounts() {
  const search = query.value.get('search')?.trim() ?? '';
  return (
    <PageFrame
      title="Accounts"
      actions={
        <a className="button primary" href="#/accounts/new">
          Create account
        </a>
      }
    >
      <search className="filters">
        <label>
          <span>Search</span>
          <input
            type="search"
            placeholder="Email address"
            value={query.value.get('search') ?? ''}
            onInput={(event) => choose({ search: event.currentTarget.value, ...FIRST_PAGE }, 'replace')}
          />
        </label>
      </search>
      <AccountPages search={search} />
    </PageFrame>
  );
}

function AccountPages({ search }: { search: string }) {
  const after = cursors().at(-1) ?? '';
  const loaded = useLoad(
    async (signal) => {
      const [page, sums] = await Promise.all([
        listAccounts(after, PAGE, { signal }, search),
        readAccountSums(signal),
      ]);
      return { ...page, sums };
    },
    JSON.stringify([search, after]),
  );
  return (
    <Shown of={loaded}>
      {({ accounts, next, sums }) => (
        <Paged label="Pages of accounts" back="Previous" on="Next" next={next} of={loaded}>
          {accounts.length > 0 ? (
            <AccountTable accounts={accounts} sums={sums} />
          ) : search === '' ? (
            <Empty title="No accounts yet">
              <p>An account has a balance and keys. Create the first one.</p>
            </Empty>
          ) : (
            <Empty title="No results">
              <p>Search by any part of the email address.</p>
            </Empty>
          )}
        </Paged>
      )}
    </Shown>
  );
}

function AccountTable({
  accounts,
  sums,
}: {
  accounts: readonly OperatorAccountView[];
  sums: ReadonlyMap<number, AccountSums>;
}) {
  return (
    <Table
      label="Accounts"
      columns={[
        'Account',
        'Status',
        ['Balance', 'number'],
        ['Spent in 30 days', 'number'],
        ['Lasts', 'number wide-only'],
        'Last used',
      ]}
    >
      {accounts.map((account) => {
        const { spent = '0.000000', lastUsed, daysLeft } = sums.get(account.id) ?? {};
        const left = daysLeft?.(account.credits_balance);
        return (
          <tr key={account.id} className="compact facts">
            <th scope="row" className="clip">
              <a href={`#/accounts/${account.id}`}>{account.email}</a>
            </th>
            <td className="compact-figure">
              <AccountStatus of={account} />
            </td>
            <td className="number">
              <Amount of={account.credits_balance} isInRow />
            </td>
            <td className="number">
              <Amount of={spent} isInRow />
            </td>
            <td className="number wide-only compact-hidden">
              {left === undefined ? '–' : daysInWords(left)}
            </td>
            <td className="nowrap">
              {lastUsed ? dayName(lastUsed) : Number(spent) > 0 ? '–' : 'not in 30 days'}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

export function AccountStatus({ of }: { of: OperatorAccountView }) {
  if (!of.is_active) return <Badge kind="bad">Inactive</Badge>;
  if (of.credits_balance <= 0) return <Badge kind="bad">No credits</Badge>;
  if (of.credits_balance < of.alert_threshold) return <Badge kind="warning">Low credits</Badge>;
  return <Badge kind="good">Active</Badge>;
}
