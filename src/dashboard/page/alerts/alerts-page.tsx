import { useState } from 'react';
import { OWN, readAccount, readAlerts, readKeys } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { seesKeys } from '../session/may.ts';
import { may, session } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyValue } from '../ui/copy-value.tsx';
import { Section } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Events } from './events.tsx';
import { TestAlert } from './test-alert.tsx';
import { Threshold } from './threshold.tsx';

/** Page of the low-credits alerts, with the outcomes of their deliveries and a test alert. */
export default function AlertsPage() {
  const loaded = useLoad(async (signal) => {
    const [alerts, keys, account] = await Promise.all([
      readAlerts(OWN, signal),
      readKeys(OWN, signal),
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
          const active = keys.filter((key) => key.is_active && key.webhook_url !== '');
          const isKnown = seesKeys(session.value?.role ?? 'key');
          const receivers = isKnown ? new Set(active.map((key) => key.webhook_url)).size : undefined;
          return (
            <>
              <p className="lead">
                When a call takes the balance below <Amount of={account.alert_threshold} /> credits, Tollgate
                sends one POST to the webhook of every active key.
              </p>
              <div className="columns columns-thirds">
                <Threshold
                  account={account}
                  onChanged={(changed) => loaded.replace({ alerts, keys, account: changed })}
                />
                {may('send test alerts') && (
                  <TestAlert
                    receivers={receivers}
                    onAlerts={(fresh) => loaded.replace({ alerts: fresh, keys, account })}
                  />
                )}
                {account.webhook_secret !== undefined && <Secret value={account.webhook_secret} />}
              </div>
              <Events alerts={alerts} keys={keys} />
            </>
          );
        }}
      </Shown>
    </PageFrame>
  );
}

/** The secret by which receivers verify alerts; hidden until the user asks for it. */
export function Secret({ value }: { value: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <Section title="Signature">
      <p>Alerts are signed according to Standard Webhooks. Verify them with this account's secret.</p>
      {isShown ? (
        <CopyValue label="Webhook secret" value={value} />
      ) : (
        <button type="button" onClick={() => setShown(true)}>
          Show the secret
        </button>
      )}
    </Section>
  );
}
