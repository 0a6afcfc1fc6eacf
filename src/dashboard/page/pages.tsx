import { useEffect } from 'react';
import { Alerts } from './alerts/alerts.tsx';
import { Explain } from './explain/explain.tsx';
import { EditKey } from './keys/edit-key.tsx';
import { KeyOverview } from './keys/key-overview.tsx';
import { Keys } from './keys/keys.tsx';
import { NewKey } from './keys/new-key.tsx';
import { OwnSettings } from './keys/own-settings.tsx';
import { Ledger } from './ledger/ledger.tsx';
import { PLACES } from './navigation.ts';
import { AccountDetail } from './operator/account-detail.tsx';
import { Accounts } from './operator/accounts.tsx';
import { NewAccount } from './operator/new-account.tsx';
import { Providers } from './operator/providers.tsx';
import { Usage } from './operator/usage.tsx';
import { Overview } from './overview/overview.tsx';
import { AllRequests, Requests } from './requests/requests.tsx';
import { goInstead, route } from './route.ts';
import type { Session } from './session/session.ts';

/** The page of the current route; the home page where this role has no page for it. */
export function Page({ role }: { role: Session['role'] }) {
  const [place = PLACES[role][0]?.[0] ?? '', id, part] = route.value;
  const isKnown = PLACES[role].some(([known]) => known === place);
  useEffect(() => {
    if (!isKnown) goInstead(`/${PLACES[role][0]?.[0]}`);
  }, [isKnown, role]);
  if (!isKnown) return null;
  const number = id !== undefined && /^\d+$/.test(id) ? Number(id) : undefined;
  switch (place) {
    case 'accounts':
      if (id === 'new') return <NewAccount />;
      return number === undefined ? (
        <Accounts />
      ) : (
        <AccountDetail key={`${id}/${part}`} id={number} part={part} />
      );
    case 'usage':
      return <Usage />;
    case 'providers':
      return <Providers />;
    case 'keys':
      if (number !== undefined) return <EditKey key={number} id={number} />;
      if (role === 'key') return <OwnSettings />;
      return id === 'new' ? <NewKey /> : <Keys />;
    case 'explain':
      return <Explain key={number} keyId={number} />;
    case 'requests':
      return role === 'operator' ? <AllRequests /> : <Requests />;
    case 'ledger':
      return <Ledger />;
    case 'alerts':
      return <Alerts />;
    default:
      return role === 'key' ? <KeyOverview /> : <Overview />;
  }
}
