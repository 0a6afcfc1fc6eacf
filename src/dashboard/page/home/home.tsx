import type { AccountView } from '../../../api/account/account-view.ts';
import { OWN, readAccount } from '../api/account.ts';
import { readOwnKey } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { isPerson, manages, ownMembership, session } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { Section } from '../ui/elements.tsx';
import { Note } from '../ui/note.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { UseKey } from '../use-key/use-key.tsx';
import { CallLimitsLine } from './call-limits-line.tsx';
import { BalanceFigure, HeldLine, SpendFigures } from './figures.tsx';
import { LimitsLeft } from './limits-left.tsx';
import { SpendChart } from './spend-chart.tsx';
import { Troubles } from './troubles.tsx';
import { useDays } from './use-days.ts';

/** Home page of an owner: balance and how long it lasts, spend, and what went wrong. */
export function Home() {
  const account = useLoad((signal) => readAccount({ signal }));
  const key = useLoad(async (signal) => (isPerson() ? undefined : readOwnKey(signal)));
  const own = ownMembership()?.limits ?? [];
  const days = useDays(OWN);
  const hasCalls = days.data === undefined || days.data.total.calls > 0;
  return (
    <PageFrame
      title="Home"
      actions={
        <button
          type="button"
          disabled={account.isLoading || days.isLoading}
          onClick={() => {
            account.reload();
            key.reload();
            days.reload();
          }}
        >
          Refresh
        </button>
      }
    >
      <Shown of={account}>
        {(data) => (
          <>
            <CreditState account={data} />
            <dl className="figures">
              <BalanceFigure account={data} days={days.data} />
              <SpendFigures days={days.data} isUnknown={days.error !== undefined} />
            </dl>
            <HeldLine account={data} />
            <LimitsLeft of={[...(key.data?.limits ?? data.limits), ...own]} />
            <CallLimitsLine of={data} whose="of all keys together" />
          </>
        )}
      </Shown>
      {days.error !== undefined && <Shown of={days}>{() => null}</Shown>}
      {!hasCalls && <UseOwnKey />}
      <SpendChart of={OWN} />
      <div className="columns columns-top">
        <Troubles of={OWN} href="#/requests" />
        {hasCalls && <UseOwnKey />}
      </div>
    </PageFrame>
  );
}

/** "Use this key" for the key of the session; nothing for a person, whose page has no key. */
export function UseOwnKey() {
  if (isPerson()) return null;
  return (
    <Section title="Use this key">
      <p className="hint">
        The key you are signed in with.{manages() && ' Create one for each app on Keys.'}
      </p>
      <UseKey token={session.value?.token ?? ''} />
    </Section>
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
        <strong>Low credits.</strong> The balance of <Amount of={balance} /> is below the alert threshold of{' '}
        <Amount of={threshold} />. Ask the operator of this gateway for a top-up in time.
      </p>
    </Note>
  );
}
