import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { Events } from '../alerts/events.tsx';
import { type Base, readAlerts, readKeys } from '../api/account.ts';
import { readOneAccount } from '../api/operator.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';
import { Entries } from '../billing/billing-page.tsx';
import { Explain } from '../explain/explain.tsx';
import { CallLimitsLine } from '../home/call-limits-line.tsx';
import { BalanceFigure, HeldLine, SpendFigures } from '../home/figures.tsx';
import { LimitsLeft } from '../home/limits-left.tsx';
import { SpendChart } from '../home/spend-chart.tsx';
import { Troubles } from '../home/troubles.tsx';
import { useDays } from '../home/use-days.ts';
import { AccountModels } from '../models/account-models.tsx';
import { numberIn } from '../page-props.ts';
import { Calls } from '../requests/requests-page.tsx';
import { query } from '../route.ts';
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
  ['', 'Home'],
  ['requests', 'Requests'],
  ['usage', 'Usage'],
  ['keys', 'Keys'],
  ['models', 'Models'],
  ['billing', 'Billing'],
  ['alerts', 'Alerts'],
  ['explain', 'Explain a call'],
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
    case 'models':
      return <AccountModels of={base} />;
    case 'explain':
      return <Explain of={base} keyId={numberIn(query.value.get('key_id') ?? undefined)} />;
    case 'usage':
      return <AccountUsage of={base} groups={['model', 'key']} />;
    case 'billing':
      return <Entries of={base} />;
    case 'alerts':
      return <AccountAlerts base={base} />;
    case '':
      return <AccountHome of={account} base={base} onChanged={loaded.replace} />;
  }
}

/** Home as the owner sees it, with what the operator may change. */
function AccountHome({
  of: account,
  base,
  onChanged,
}: {
  of: OperatorAccountView;
  base: Base;
  onChanged: (account: OperatorAccountView) => void;
}) {
  const days = useDays(base);
  return (
    <>
      <p className="key-line">
        <AccountStatus of={account} />{' '}
        <span>
          No. {account.id}, created <Time at={account.created_at} />
        </span>
      </p>
      <dl className="figures">
        <BalanceFigure account={account} days={days.data} />
        <SpendFigures days={days.data} isUnknown={days.error !== undefined} />
      </dl>
      <HeldLine account={account} />
      <LimitsLeft of={account.limits} />
      <CallLimitsLine of={account} whose="of all keys together" />
      <SpendChart of={base} />
      <div className="columns">
        <div>
          <ChangeBalance
            of={account}
            onBalance={(credits_balance) => onChanged({ ...account, credits_balance })}
          />
          <Troubles of={base} href={`#/accounts/${account.id}/requests`} />
        </div>
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
