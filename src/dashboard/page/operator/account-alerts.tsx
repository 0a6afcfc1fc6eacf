import { Events } from '../alerts/events.tsx';
import { type Base, readAlerts, readKeys } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { Shown } from '../ui/shown.tsx';

export function AccountAlerts({ base }: { base: Base }) {
  const loaded = useLoad(async (signal) => {
    const [alerts, keys] = await Promise.all([readAlerts(base, signal), readKeys(base, signal)]);
    return { alerts, keys };
  });
  return <Shown of={loaded}>{({ alerts, keys }) => <Events alerts={alerts} keys={keys} />}</Shown>;
}
