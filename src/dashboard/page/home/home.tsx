import type { AccountView } from '../../../api/account/account-view.ts';
import { OWN, readAccount } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { credits } from '../format/credits.ts';
import { Note } from '../ui/note.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { CallLimitsLine } from './call-limits-line.tsx';
import { Figures } from './figures.tsx';
import { Spend } from './spend.tsx';
import { useSpend } from './use-spend.ts';

/** Home page of an owner, with balance and spend. */
export function Home() {
  const account = useLoad((signal) => readAccount({ signal }));
  const spend = useSpend(OWN);
  const reload = () => {
    account.reload();
    spend.reload();
  };
  return (
    <PageFrame
      title="Home"
      actions={
        <button type="button" onClick={reload} disabled={account.isLoading || spend.isLoading}>
          Refresh
        </button>
      }
    >
      <Shown of={account}>
        {(data) => (
          <>
            <CreditState account={data} />
            <Figures
              account={data}
              spent={spend.data?.byDay.total}
              isUnknown={spend.error !== undefined}
              onChanged={account.replace}
            />
            <CallLimitsLine of={data} whose="of all keys together" />
          </>
        )}
      </Shown>
      <Shown of={spend}>{(reports) => <Spend {...reports} of={OWN} />}</Shown>
    </PageFrame>
  );
}

/** Note for an account with few credits left, or none. */
function CreditState({ account }: { account: AccountView }) {
  const { credits_balance: balance, alert_threshold: threshold } = account;
  if (balance <= 0) {
    return (
      <Note kind="danger">
        <p>
          <strong>No credits.</strong> Calls that cost anything are refused with{' '}
          <code>insufficient_credits</code>. Ask the operator of this gateway for a top-up.
        </p>
      </Note>
    );
  }
  if (balance >= threshold) return null;
  return (
    <Note kind="warning">
      <p>
        <strong>Low credits.</strong> The balance of {credits(balance)} is below the alert threshold of{' '}
        {credits(threshold)}. Ask the operator of this gateway for a top-up in time.
      </p>
    </Note>
  );
}
