import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { listAccounts } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { credits, creditsInColumn } from '../format/credits.ts';
import { choose, query } from '../route.ts';
import { Badge, Empty, Time } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';

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
    (signal) => listAccounts(after, PAGE, { signal }, search),
    JSON.stringify([search, after]),
  );
  return (
    <Shown of={loaded}>
      {({ accounts, next }) => (
        <Paged label="Pages of accounts" back="Previous" on="Next" next={next} of={loaded}>
          {accounts.length > 0 ? (
            <AccountTable accounts={accounts} />
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

function AccountTable({ accounts }: { accounts: readonly OperatorAccountView[] }) {
  return (
    <Table
      label="Accounts"
      columns={[
        'Account',
        'Status',
        ['Balance', 'number'],
        ['Held', 'number'],
        ['Alert threshold', 'number wide-only'],
        ['Created', 'wide-only'],
      ]}
    >
      {accounts.map((account) => (
        <tr key={account.id}>
          <th scope="row">
            <a href={`#/accounts/${account.id}`}>{account.email}</a>
            <span className="sub">No. {account.id}</span>
          </th>
          <td>
            <AccountStatus of={account} />
          </td>
          <td className="number">{creditsInColumn(account.credits_balance)}</td>
          <td className="number">{creditsInColumn(account.credits_held)}</td>
          <td className="number wide-only">{credits(account.alert_threshold)}</td>
          <td className="wide-only">
            <Time at={account.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function AccountStatus({ of }: { of: OperatorAccountView }) {
  if (!of.is_active) return <Badge kind="bad">Inactive</Badge>;
  if (of.credits_balance < of.alert_threshold) return <Badge kind="warning">Low credits</Badge>;
  return <Badge kind="good">Active</Badge>;
}
