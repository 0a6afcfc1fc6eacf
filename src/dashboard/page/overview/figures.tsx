import type { AccountView } from '../../../domain/account-view.ts';
import type { Sums } from '../api/account.ts';
import { callsInWords, credits } from '../format/credits.ts';
import { Threshold } from './threshold.tsx';

/** The numbers of the account. */
export function Figures(props: {
  account: AccountView;
  spent: Sums | undefined;
  onChanged: (account: AccountView) => void;
}) {
  const { account, spent } = props;
  const isLow = account.credits_balance < account.alert_threshold;
  return (
    <dl class="figures">
      <div class={isLow ? 'figure figure-low' : 'figure'}>
        <dt>Balance</dt>
        <dd class="figure-value">{credits(account.credits_balance)}</dd>
        <dd class="figure-note">credits of {account.email}</dd>
      </div>
      <div class="figure">
        <dt>Held</dt>
        <dd class="figure-value">{credits(account.credits_held)}</dd>
        <dd class="figure-note">reserved for calls in flight</dd>
      </div>
      <div class="figure">
        <dt>Spent in 30 days</dt>
        <dd class="figure-value">{spent ? credits(spent.credits) : '…'}</dd>
        <dd class="figure-note">{spent ? `in ${callsInWords(spent.calls)}` : 'loading'}</dd>
      </div>
      <Threshold account={account} onChanged={props.onChanged} />
    </dl>
  );
}
