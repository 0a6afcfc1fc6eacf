import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { AccountView } from '../../../api/account/account-view.ts';
import type { AlertListView, QueuedAlertView } from '../../../api/alerts/alert-view.ts';
import { ask } from '../data/client.ts';
import { POLL_MS, read } from '../data/query.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { announce } from '../ui/announce.tsx';
import { CopyValue } from '../ui/copy.tsx';
import { Card } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Alerts, Receivers } from './deliveries.tsx';
import { Threshold } from './threshold.tsx';
import '../style/alerts.css';

/** When the account is alerted and who gets it, with the outcome of every delivery. */
export default function AlertsPage() {
  const scope = useScope();
  const account = useQuery(read<AccountView>(scope, scope.api));
  const alerts = useQuery({ ...alertsOf(scope), refetchInterval: POLL_MS });
  return (
    <Page title="Alerts">
      <Shown of={account}>
        {(of) => (
          <>
            <p className="lead">
              When the balance falls below <Amount of={of.alert_threshold} />, Tollgate sends one POST to the
              webhook of every active key that has one.
            </p>
            <div className="alert-cards">
              <Threshold of={of} />
              {scope.can('send test alerts') && <TestAlert receivers={alerts.data?.receivers} />}
              {scope.can('read the webhook secret') && of.webhook_secret !== undefined && (
                <Secret value={of.webhook_secret} />
              )}
            </div>
          </>
        )}
      </Shown>
      <Shown of={alerts}>
        {(list) => (
          <>
            <Receivers of={list.receivers} />
            <Alerts of={list} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function alertsOf(scope: Scope) {
  return read<AlertListView>(scope, `${scope.api}alerts/`);
}

/** Time to wait for outcomes. A delivery takes 10 s at most; a later outcome is shown by the next poll. */
const WAIT_MS = 12_000;
const LOOK_EVERY_MS = 400;
/** Most addresses that a test goes to (specification section 7). */
const MOST_TESTED = 20;

/** Button that sends a test alert to the webhooks, and waits for the outcomes. */
function TestAlert({ receivers }: { receivers: AlertListView['receivers'] | undefined }) {
  const scope = useScope();
  const client = useQueryClient();
  const outcomeOf = async (id: number): Promise<string> => {
    const end = Date.now() + WAIT_MS;
    for (;;) {
      const { alerts } = await client.fetchQuery({ ...alertsOf(scope), staleTime: 0 });
      const deliveries = alerts.find((alert) => alert.id === id)?.deliveries ?? [];
      if (deliveries.length > 0 && deliveries.every(({ status }) => status !== 'unknown')) {
        const delivered = deliveries.filter(({ status }) => status === 'delivered').length;
        return `Test alert: ${delivered} of ${deliveries.length} delivered.`;
      }
      if (Date.now() > end) return 'The test alert has no result yet.';
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  };
  const test = useMutation({
    mutationFn: async () => {
      const { id } = await ask<QueuedAlertView>(`${scope.api}alerts/test/`, {
        method: 'POST',
        account: scope.accountHeader,
      });
      announce(await outcomeOf(id));
    },
  });
  const urls = receivers && new Set(receivers.map(({ url }) => url)).size;
  return (
    <Card title="Test">
      <p>{wordsFor(urls)}</p>
      <Failure error={test.error} />
      <Button disabled={!urls} loading={test.isPending} onClick={() => test.mutate()}>
        Send test alert
      </Button>
    </Card>
  );
}

function wordsFor(urls: number | undefined): string {
  if (urls === undefined) return 'Sends a test alert to the webhook of every active key that has one.';
  if (urls === 0) return 'No active key has a webhook. Set one on a key first.';
  if (urls > MOST_TESTED) return `Sends a test alert to ${MOST_TESTED} of ${urls} webhooks.`;
  return `Sends a test alert to ${urls === 1 ? 'one webhook' : `${urls} webhooks`}.`;
}

/** The secret by which receivers verify alerts; hidden until the user asks for it. */
function Secret({ value }: { value: string }) {
  const [isShown, setShown] = useState(false);
  return (
    <Card title="Signature">
      <p>Alerts are signed by Standard Webhooks. Verify them with this account's secret.</p>
      {isShown ? (
        <CopyValue label="Webhook secret" value={value} />
      ) : (
        <Button variant="default" onClick={() => setShown(true)}>
          Show the secret
        </Button>
      )}
    </Card>
  );
}
