import type { OperatorAccountView } from '../../../domain/account-view.ts';
import { listAccounts, listEveryAccount } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { credits, creditsInColumn } from '../format/credits.ts';
import { choose, query } from '../route.ts';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { AccountStatus } from './account-status.tsx';

const PAGE = 50;
/** The most that a search shows. */
const FOUND = 100;

/** Every account of the gateway, a page at a time, or those whose e-mail address has what is searched for. */
export function Accounts() {
  const search = query.value.get('search')?.trim() ?? '';
  return (
    <PageFrame
      title="Accounts"
      actions={
        <a class="button primary" href="#/accounts/new">
          Create account
        </a>
      }
    >
      <search class="filters">
        <label>
          <span>Search</span>
          <input
            type="search"
            placeholder="E-mail address or number"
            value={query.value.get('search') ?? ''}
            onInput={(event) => choose({ search: event.currentTarget.value, ...FIRST_PAGE }, 'replace')}
          />
        </label>
      </search>
      {search === '' ? <AccountPages /> : <FoundAccounts search={search.toLowerCase()} />}
    </PageFrame>
  );
}

function AccountPages() {
  const after = cursors().at(-1) ?? '';
  const loaded = useLoad((signal) => listAccounts(after, PAGE, { signal }), after);
  return (
    <Shown of={loaded}>
      {({ accounts, next }) => (
        <Paged label="Pages of accounts" back="Previous" on="Next" next={next} of={loaded}>
          {accounts.length === 0 ? (
            <Empty title="No account yet">
              <p>An account has a balance and keys. Create the first one.</p>
            </Empty>
          ) : (
            <AccountTable accounts={accounts} />
          )}
        </Paged>
      )}
    </Shown>
  );
}

function FoundAccounts({ search }: { search: string }) {
  const loaded = useLoad(listEveryAccount);
  return (
    <Shown of={loaded}>
      {(accounts) => {
        const found = accounts.filter(
          ({ id, email }) => email.toLowerCase().includes(search) || String(id) === search,
        );
        return (
          <>
            <p class="hint found" role="status">
              {found.length} of {accounts.length} accounts
              {found.length > FOUND && `; the first ${FOUND} are shown: search for more of the address`}
            </p>
            {found.length === 0 ? (
              <Empty title="No account is like that">
                <p>Search for a part of the e-mail address.</p>
              </Empty>
            ) : (
              <AccountTable accounts={found.slice(0, FOUND)} />
            )}
          </>
        );
      }}
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
            <span class="sub">No. {account.id}</span>
          </th>
          <td>
            <AccountStatus of={account} />
          </td>
          <td class="number">{creditsInColumn(account.credits_balance)}</td>
          <td class="number">{creditsInColumn(account.credits_held)}</td>
          <td class="number wide-only">{credits(account.alert_threshold)}</td>
          <td class="wide-only">
            <Time at={account.created_at} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
