import { readAccount, readAlerts } from '../api/account.ts';
import { listKeys } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { credits } from '../format/credits.ts';
import { ReadOnlyNote } from '../keys/read-only-note.tsx';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Section } from '../ui/section.tsx';
import { Shown } from '../ui/shown.tsx';
import { AlertEvent } from './alert-event.tsx';
import { Secret } from './secret.tsx';
import { TestAlert } from './test-alert.tsx';

/** Low-credits alerts, what became of each, and a test. */
export function Alerts() {
  const loaded = useLoad(async (signal) => {
    const [alerts, keys, account] = await Promise.all([
      readAlerts(signal),
      listKeys(signal),
      readAccount({ signal }),
    ]);
    return { alerts, keys, account };
  });
  return (
    <PageFrame
      title="Alerts"
      actions={
        <button type="button" disabled={loaded.isLoading} onClick={loaded.reload}>
          Refresh
        </button>
      }
    >
      <Shown of={loaded}>
        {({ alerts, keys, account }) => {
          const receivers = keys.filter((key) => key.is_active && key.webhook_url !== '');
          return (
            <>
              <p class="lead">
                When a call takes the balance below {credits(account.alert_threshold)} credits, every active
                key with a webhook address gets one POST. <a href="#/overview">Change the threshold</a>
              </p>
              {account.webhook_secret === undefined ? (
                <ReadOnlyNote />
              ) : (
                <div class="columns">
                  <TestAlert
                    receivers={receivers.length}
                    onAlerts={(fresh) => loaded.replace({ alerts: fresh, keys, account })}
                  />
                  <Secret value={account.webhook_secret} />
                </div>
              )}
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
            </>
          );
        }}
      </Shown>
    </PageFrame>
  );
}
