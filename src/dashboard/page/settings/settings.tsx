import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AccountView } from '../../../api/account/account-view.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { callLimitWords } from '../format/call-limits.ts';
import { WhatIsLeft } from '../limits/what-is-left.tsx';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Card, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { readFields } from '../ui/read-fields.ts';
import { Shown } from '../ui/shown.tsx';

/** Settings of an account: those of its owners and admins, and those that only the operator changes. */
export default function SettingsPage() {
  const scope = useScope();
  const account = useQuery(read<AccountView>(scope, scope.api));
  return (
    <Page title="Settings">
      <Shown of={account}>
        {(data) => (
          <>
            <Card title="Account">
              {scope.can('rename the account') ? <AccountName of={data} /> : <NameFact of={data} />}
              <Facts>
                <Fact name="E-mail">{data.email}</Fact>
                <Fact name="Account ID">
                  <code>{data.id}</code> <CopyButton label="Account ID" value={String(data.id)} />
                  <span className="sub">
                    People who use the API with a session name it in the header <code>Tollgate-Account</code>.
                  </span>
                </Fact>
                <Fact name="Created">
                  <Time at={data.created_at} />
                </Fact>
              </Facts>
            </Card>
            <Card title="Alerts">
              <Facts>
                <Fact name="Low balance">
                  Alert below <Amount of={data.alert_threshold} /> credits.{' '}
                  <PageLink to="alerts">
                    {scope.can('change the threshold') ? 'Change on Alerts' : 'See Alerts'}
                  </PageLink>
                </Fact>
                {scope.can('read the webhook secret') && (
                  <Fact name="Webhook secret">
                    Alerts are signed with it. <PageLink to="alerts">Show on Alerts</PageLink>
                  </Fact>
                )}
              </Facts>
            </Card>
            <Card title="Set by the operator of this gateway">
              <Facts>
                <Fact name="Rates of all keys together">
                  {callLimitWords(data).join(' · ') || 'No rate limits'}
                </Fact>
                <Fact name="Overdraft">
                  <Amount of={data.overdraft} /> credits
                  <span className="sub">How far calls in flight can take the balance below 0.</span>
                </Fact>
                <Fact name="Spending limits">
                  <WhatIsLeft limits={data.limits} none="None for the account as a whole." />{' '}
                  <PageLink to="limits">All limits</PageLink>
                </Fact>
              </Facts>
            </Card>
          </>
        )}
      </Shown>
    </Page>
  );
}

function NameFact({ of: { name } }: { of: AccountView }) {
  return (
    <Facts>
      <Fact name="Name">
        {name}
        <span className="sub">Owners and admins can change it.</span>
      </Fact>
    </Facts>
  );
}

function AccountName({ of: account }: { of: AccountView }) {
  const { api, accountHeader } = useScope();
  const asked = { account: accountHeader };
  const edit = useEdit<AccountView, Pick<AccountView, 'name'>, Pick<AccountView, 'name'>>({
    what: 'account',
    labels: { name: 'Name' },
    stored: account,
    draftOf: ({ name }) => ({ name }),
    read: ({ name }) => readFields<Pick<AccountView, 'name'>>({ name: () => name.trim() }),
    reread: () => ask<AccountView>(api, asked),
    send: (body) => ask<AccountView>(api, { method: 'PATCH', body, ...asked }),
  });
  return (
    <EditForm of={edit} hint="Members see this name, and mails of the gateway name it.">
      <div className="fields">
        <TextInput label="Name" autoComplete="off" {...edit.input('name')} />
      </div>
    </EditForm>
  );
}
