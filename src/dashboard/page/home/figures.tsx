import type { AccountView } from '../../../api/account/account-view.ts';
import { callsInWords, credits } from '../format/credits.ts';
import { Email } from '../ui/elements.tsx';
import { Threshold } from './threshold.tsx';
import type { Spent } from './use-spend.ts';

/** The key figures of the account: balance, holds, overdraft where there is one, spend, threshold. */
export function Figures(props: {
  account: AccountView;
  /** Spend of the last 30 days; undefined while it loads. */
  spent: Spent | undefined;
  /** True where the spend could not be read. */
  isUnknown: boolean;
  onChanged: (account: AccountView) => void;
}) {
  const { account } = props;
  const isLow = account.credits_balance < account.alert_threshold;
  return (
    <dl className="figures">
      <div className={isLow ? 'figure figure-low' : 'figure'}>
        <dt>Balance</dt>
        <dd className="figure-value">{credits(account.credits_balance)}</dd>
        <dd className="figure-note">
          credits of <Email address={account.email} />
        </dd>
      </div>
      <div className="figure">
        <dt>Held</dt>
        <dd className="figure-value">{credits(account.credits_held)}</dd>
        <dd className="figure-note">reserved for calls in flight</dd>
      </div>
      {account.overdraft > 0 && (
        <div className="figure">
          <dt>Overdraft</dt>
          <dd className="figure-value">{credits(account.overdraft)}</dd>
          <dd className="figure-note">how far below 0 calls in flight can go</dd>
        </div>
      )}
      <SpentFigure spent={props.spent} isUnknown={props.isUnknown} />
      <Threshold account={account} onChanged={props.onChanged} />
    </dl>
  );
}

export function SpentFigure({ spent, isUnknown }: { spent: Spent | undefined; isUnknown: boolean }) {
  return (
    <div className="figure">
      <dt>Spent in 30 days</dt>
      <dd className="figure-value">{spent ? credits(spent.credits) : isUnknown ? '–' : '…'}</dd>
      <dd className="figure-note">
        {spent ? `in ${callsInWords(spent.calls)}` : isUnknown ? 'could not be read' : 'loading'}
      </dd>
    </div>
  );
}
