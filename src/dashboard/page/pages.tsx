import { Alerts } from './alerts/alerts.tsx';
import { Explain } from './explain/explain.tsx';
import { EditKey } from './keys/edit-key.tsx';
import { Keys } from './keys/keys.tsx';
import { NewKey } from './keys/new-key.tsx';
import { Ledger } from './ledger/ledger.tsx';
import { AccountDetail } from './operator/account-detail.tsx';
import { Accounts } from './operator/accounts.tsx';
import { NewAccount } from './operator/new-account.tsx';
import { Overview } from './overview/overview.tsx';
import { route } from './route.ts';
import type { Session } from './session/session.ts';

/** The table of contents: which page a route shows. A route that is not known shows the first page. */
export function Page({ role }: { role: Session['role'] }) {
  const [place, id] = route.value;
  const number = id !== undefined && /^\d+$/.test(id) ? Number(id) : undefined;
  if (role === 'operator') {
    if (place === 'accounts' && id === 'new') return <NewAccount />;
    if (place === 'accounts' && number !== undefined) return <AccountDetail key={number} id={number} />;
    return <Accounts />;
  }
  switch (place) {
    case 'keys':
      if (id === 'new') return <NewKey />;
      return number === undefined ? <Keys /> : <EditKey key={number} id={number} />;
    case 'explain':
      return <Explain key={number} keyId={number} />;
    case 'ledger':
      return <Ledger />;
    case 'alerts':
      return <Alerts />;
    default:
      return <Overview />;
  }
}
