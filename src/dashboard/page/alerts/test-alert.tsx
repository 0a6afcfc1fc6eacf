import type { AlertView } from '../../../api/alerts/alert-view.ts';
import { OWN, readAlerts, sendTestAlert } from '../api/account.ts';
import { useAction } from '../api/use-action.ts';
import { announce } from '../ui/announcements.tsx';
import { Section } from '../ui/elements.tsx';
import { FailureNote } from '../ui/note.tsx';

/**
 * Time to wait for outcomes. A delivery takes 10 s at most; one without an outcome by then is shown at the next
 * refresh.
 */
const WAIT_MS = 12_000;
const LOOK_EVERY_MS = 400;
/** Most addresses that a test goes to (specification section 7). */
const MOST_TESTED = 20;

/** Button that sends a test alert to the webhook addresses and waits for the outcomes. */
export function TestAlert({
  receivers,
  onAlerts,
}: {
  /** Number of webhook addresses of active keys; undefined for a role that sees no keys. */
  receivers: number | undefined;
  onAlerts: (alerts: readonly AlertView[]) => void;
}) {
  const action = useAction(async () => {
    const { id } = await sendTestAlert();
    const outcome = await outcomeOf(id, onAlerts);
    announce(outcome);
  });
  return (
    <Section title="Test">
      <p>{wordsFor(receivers)}</p>
      <button
        type="button"
        className="primary"
        disabled={action.isBusy || receivers === 0}
        onClick={() => action.run()}
      >
        {action.isBusy ? 'Sending…' : 'Send test alert'}
      </button>
      <FailureNote error={action.error} />
    </Section>
  );
}

function wordsFor(receivers: number | undefined): string {
  if (receivers === undefined)
    return 'Sends a test alert to the webhook URL of every active key that has one.';
  if (receivers === 0) return 'No active key has a webhook URL. Set one on a key first.';
  const urls = receivers === 1 ? 'one webhook URL' : `${Math.min(receivers, MOST_TESTED)} webhook URLs`;
  return `Sends a test alert to ${urls}${receivers > MOST_TESTED ? `, of ${receivers}` : ''}.`;
}

async function outcomeOf(id: number, onAlerts: (alerts: readonly AlertView[]) => void): Promise<string> {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const alerts = await readAlerts(OWN);
    onAlerts(alerts);
    const deliveries = alerts.find((alert) => alert.id === id)?.deliveries ?? [];
    const isDone = deliveries.length > 0 && deliveries.every(({ status }) => status !== 'unknown');
    if (isDone) {
      const delivered = deliveries.filter(({ status }) => status === 'delivered').length;
      return `Test alert: ${delivered} of ${deliveries.length} delivered.`;
    }
    if (Date.now() > end) return 'The test alert has no result yet.';
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
