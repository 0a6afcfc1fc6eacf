import { useState } from 'preact/hooks';
import { listAccounts, type OperatorAccount } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { credits, creditsInColumn } from '../format/credits.ts';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { AccountStatus } from './account-status.tsx';

const PAGE = 50;

/** Every account of the gateway, a page at a time. */
export function Accounts() {
  const [cursors, setCursors] = useState<readonly (string | null)[]>([null]);
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
              <nav class="pager" aria-label="Pages of accounts">
                <button
                  type="button"
                  disabled={cursors.length === 1}
                  onClick={() => setCursors(cursors.slice(0, -1))}
                >
                  ← Previous
                </button>
                <span class="hint" role="status">
                  Page {cursors.length}
                </span>
                <button type="button" disabled={next === null} onClick={() => setCursors([...cursors, next])}>
                  Next →
                </button>
              </nav>
            </>
          )
        }
      </Shown>
    </PageFrame>
  );
}

function AccountTable({ accounts }: { accounts: readonly OperatorAccount[] }) {
  return (
    <Table label="Accounts">
      <thead>
        <tr>
          <th scope="col">Account</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Balance
          </th>
          <th scope="col" class="number">
            Held
          </th>
          <th scope="col" class="number wide-only">
            Alert threshold
          </th>
          <th scope="col" class="wide-only">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
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
      </tbody>
    </Table>
  );
}
