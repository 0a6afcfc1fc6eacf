import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { Events } from '../alerts/events.tsx';
import { type Base, readAlerts, readKeys } from '../api/account.ts';
import { readOneAccount } from '../api/operator.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';
import { Entries } from '../billing/billing-page.tsx';
import { credits } from '../format/credits.ts';
import { Calls } from '../requests/requests-page.tsx';
import { Time } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { AccountUsage } from '../usage/account-usage.tsx';
import { AccountKeys } from './account-keys.tsx';
import { AccountSettings } from './account-settings.tsx';
import { AccountStatus } from './accounts.tsx';
import { ChangeBalance } from './change-balance.tsx';
import { SwitchAccount } from './switch-account.tsx';

const PARTS = [
  ['', 'Account'],
  ['keys', 'Keys'],
  ['requests', 'Requests'],
  ['usage', 'Usage'],
  ['billing', 'Billing'],
  ['alerts', 'Alerts'],
] as const;

/** The operator's page of one account. */
export function AccountDetail({ id, part = '' }: { id: number; part: string | undefined }) {
  const loaded = useLoad((signal) => readOneAccount(id, signal));
  const { data } = loaded;
  const [here, name] = PARTS.find(([known]) => known === part) ?? PARTS[0];
  return (
    <PageFrame
      title={data?.email ?? 'Account'}
      part={here && name}
      back={{ href: '#/accounts', name: 'Accounts' }}
      actions={data && <SwitchAccount of={data} onChanged={loaded.replace} />}
    >
      <nav className="parts" aria-label="Pages of the account">
        <ul>
          {PARTS.map(([place, title]) => (
            <li key={place}>
              <a
                href={`#/accounts/${id}${place && `/${place}`}`}
                aria-current={place === here ? 'page' : undefined}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <Shown of={loaded}>{(account) => <Part of={here} account={account} loaded={loaded} />}</Shown>
    </PageFrame>
  );
}

function Part(props: {
  of: (typeof PARTS)[number][0];
  account: OperatorAccountView;
  loaded: Loaded<OperatorAccountView>;
}) {
  const { account, loaded } = props;
  const base: Base = `/api/admin/accounts/${account.id}/`;
  switch (props.of) {
    case 'keys':
      return <AccountKeys of={account} base={base} />;
    case 'requests':
      return <Calls of={base} />;
    case 'usage':
      return <AccountUsage of={base} groups={['model', 'key']} />;
    case 'billing':
      return <Entries of={base} />;
    case 'alerts':
      return <AccountAlerts base={base} />;
    case '':
      return <Account of={account} onChanged={loaded.replace} />;
  }
}

function Account({
  of: account,
  onChanged,
}: {
  of: OperatorAccountView;
  onChanged: (account: OperatorAccountView) => void;
}) {
  return (
    <>
      <p className="key-line">
        <AccountStatus of={account} />{' '}
        <span>
          No. {account.id}, created <Time at={account.created_at} />
        </span>
      </p>
      <dl className="figures">
        <div className="figure">
          <dt>Balance</dt>
          <dd className="figure-value">{credits(account.credits_balance)}</dd>
        </div>
        <div className="figure">
          <dt>Held</dt>
          <dd className="figure-value">{credits(account.credits_held)}</dd>
        </div>
      </dl>
      <div className="columns">
        <ChangeBalance
          of={account}
          onBalance={(credits_balance) => onChanged({ ...account, credits_balance })}
        />
        <AccountSettings of={account} onChanged={onChanged} />
      </div>
    </>
  );
}

function AccountAlerts({ base }: { base: Base }) {
  const loaded = useLoad(async (signal) => {
    const [alerts, keys] = await Promise.all([readAlerts(base, signal), readKeys(base, signal)]);
    return { alerts, keys };
  });
  return <Shown of={loaded}>{({ alerts, keys }) => <Events alerts={alerts} keys={keys} />}</Shown>;
}
