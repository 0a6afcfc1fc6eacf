import { useState } from 'preact/hooks';
import type { OperatorAccountView } from '../../../domain/account-view.ts';
import { listAccounts } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { credits, creditsInColumn } from '../format/credits.ts';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { FIRST_PAGE, Pager } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { AccountStatus } from './account-status.tsx';

const PAGE = 50;

/** Every account of the gateway, a page at a time. */
export function Accounts() {
  const [cursors, setCursors] = useState(FIRST_PAGE);
  const after = cursors.at(-1) ?? null;
  const loaded = useLoad((signal) => listAccounts(after, PAGE, { signal }), after ?? '');
  return (
    <PageFrame
      title="Accounts"
      actions={
        <a class="button primary" href="#/accounts/new">
          Create account
        </a>
      }
    >
      <Shown of={loaded}>
        {({ accounts, next }) =>
          accounts.length === 0 ? (
            <Empty title="No account yet">
              <p>An account has a balance and keys. Create the first one.</p>
            </Empty>
          ) : (
            <>
              <AccountTable accounts={accounts} />
              <Pager
                label="Pages of accounts"
                back="Previous"
                on="Next"
                cursors={cursors}
                onCursors={setCursors}
                next={next}
                isBusy={loaded.isLoading}
              />
            </>
          )
        }
      </Shown>
    </PageFrame>
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
