import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AccountView } from '../../../api/account/account-view.ts';
import type { EntryPageView } from '../../../api/ledger/entry-view.ts';
import { read } from '../data/query.ts';
import { BalanceFigure, useDays } from '../home/figures.tsx';
import { dayOf, sumOf } from '../home/pace.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { useChoices } from '../ui/choices.ts';
import { Figure, Figures, Time } from '../ui/elements.tsx';
import { Page } from '../ui/page.tsx';
import { FIRST_PAGE } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { Entries } from './entries.tsx';
import { EntryPanel } from './entry-panel.tsx';
import { Statement } from './statement.tsx';

/** The balance and its pace, the statement of a month, and the ledger behind it. */
export default function BillingPage() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const account = useQuery(read<AccountView>(scope, scope.api));
  const isLedger = choices.view === 'entries';
  return (
    <Page title="Billing">
      <Shown of={account}>{(of) => <Balance of={of} />}</Shown>
      <SegmentedControl
        aria-label="View"
        size="xs"
        mb="md"
        value={isLedger ? 'entries' : 'statement'}
        onChange={(view) =>
          choose({
            ...FIRST_PAGE,
            view: view === 'statement' ? '' : view,
            from: '',
            to: '',
            entry: '',
            day: '',
          })
        }
        data={[
          { value: 'statement', label: 'Statement' },
          { value: 'entries', label: 'Entries' },
        ]}
      />
      {isLedger ? (
        <Entries />
      ) : (
        <Shown of={account}>{({ created_at }) => <Statement since={created_at} />}</Shown>
      )}
      {choices.entry && <EntryPanel key={choices.entry} id={choices.entry} />}
    </Page>
  );
}

function Balance({ of: account }: { of: AccountView }) {
  const scope = useScope();
  const days = useDays();
  const latest = useQuery(read<EntryPageView>(scope, `${scope.api}ledger/?type=top_up&limit=1`));
  const month = dayOf(Date.now()).slice(0, 7);
  const spent = days.data?.rows.filter(({ day = '' }) => day.startsWith(month)).map(({ credits }) => credits);
  const [topUp] = latest.data?.entries ?? [];
  return (
    <Figures>
      <BalanceFigure account={account} days={days} />
      <Figure name="Spent this month" note="UTC, less refunds">
        {spent ? <Amount of={sumOf(spent)} /> : '–'}
      </Figure>
      <Figure
        name="Latest top-up"
        note={topUp ? <Time at={topUp.created_at} /> : scope.kind === 'own' && 'Your operator tops it up.'}
      >
        {topUp ? <Amount of={topUp.credits} isChange /> : latest.data ? 'None' : '–'}
      </Figure>
    </Figures>
  );
}
