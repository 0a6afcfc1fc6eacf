import type { AlertView } from '../../../api/views/alert-view.ts';
import type { KeyView } from '../../../api/views/key-view.ts';
import { Empty } from '../ui/empty.tsx';
import { Section } from '../ui/section.tsx';
import { AlertEvent } from './alert-event.tsx';

/** What became of each alert. */
export function Events({ alerts, keys }: { alerts: readonly AlertView[]; keys: readonly KeyView[] }) {
  return (
    <Section title="Events">
      {alerts.length === 0 ? (
        <Empty title="No alert yet">
          <p>Alerts show here with the outcome of each delivery.</p>
        </Empty>
      ) : (
        <ul class="events">
          {alerts.map((alert) => (
            <AlertEvent key={alert.id} of={alert} keys={keys} />
          ))}
        </ul>
      )}
    </Section>
  );
}
