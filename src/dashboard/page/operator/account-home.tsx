import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ListedAccountView } from '../../../api/account/account-view.ts';
import type { KeyListView } from '../../../api/keys/key-view.ts';
import type { MemberView } from '../../../api/people/member-view.ts';
import { ask } from '../data/client.ts';
import { POLL_MS, read } from '../data/query.ts';
import { callLimitWords } from '../format/call-limits.ts';
import { count, credits } from '../format/credits.ts';
import { SpendFigures, useDays } from '../home/figures.tsx';
import { WhatIsLeft } from '../limits/what-is-left.tsx';
import { useScope } from '../session/scope.ts';
import { announce } from '../ui/announce.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Card, Email, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { AccountStatus, isOutOfCredits } from './accounts.tsx';
import { ChangeBalance } from './change-balance.tsx';

/** First page of an account as the operator sees it: what is wrong with it, its balance, and what it does. */
export default function AccountHomePage() {
  const scope = useScope();
  const account = useQuery({ ...read<ListedAccountView>(scope, scope.api), refetchInterval: POLL_MS });
  const days = useDays();
  const { data } = account;
  return (
    <Page
      title={data?.name ?? 'Account'}
      back={{ to: '/operator/accounts', name: 'Accounts' }}
      beside={data && <AccountStatus of={data} />}
      actions={data && <SwitchAccount of={data} />}
    >
      <Shown of={account}>
        {(shown) => (
          <>
            <p className="lead">
              {shown.name !== shown.email && (
                <>
                  <Email address={shown.email} /> ·{' '}
                </>
              )}
              No. {shown.id} · Created <Time at={shown.created_at} />
            </p>
            <WhatIsWrong of={shown} />
            <SpendFigures account={shown} days={days} />
            <div className="columns">
              <ChangeBalance of={shown} />
              <div>
                <Card title="Limits" actions={<PageLink to="settings">Change</PageLink>}>
                  <WhatIsLeft limits={shown.limits} none="The account has no spending limit of its own." />
                  <p className="hint">{rateWords(shown)}</p>
                </Card>
                <Access />
              </div>
            </div>
          </>
        )}
      </Shown>
    </Page>
  );
}

function rateWords(account: ListedAccountView): string {
  const limits = callLimitWords(account);
  return limits.length === 0 ? 'No rate limits.' : `${limits.join(', ')}, for all keys together.`;
}

/** Why calls of the account are refused, or soon will be. */
function WhatIsWrong({ of: account }: { of: ListedAccountView }) {
  const { is_active, credits_balance, refused_24h, lasts_days } = account;
  if (!is_active) {
    return (
      <Note kind="danger">
        <p>This account is inactive: all calls of all its keys are refused.</p>
      </Note>
    );
  }
  if (isOutOfCredits(account)) {
    return (
      <Note kind="danger">
        <p>
          No credits: the balance is {credits(credits_balance)}.{' '}
          {refused_24h === 0
            ? 'Calls that cost credits are refused.'
            : `${count(refused_24h)} ${refused_24h === 1 ? 'call was' : 'calls were'} refused in the last 24 hours.`}{' '}
          <PageLink to="requests" choices={{ result: 'refused', code: 'insufficient_credits' }}>
            See refused calls
          </PageLink>
        </p>
      </Note>
    );
  }
  if (lasts_days === null || lasts_days >= 1) return null;
  return (
    <Note kind="warning">
      <p>At the pace of the last 7 days, the balance lasts less than a day.</p>
    </Note>
  );
}

/** Numbers of the keys and members, each with its page. */
function Access() {
  const scope = useScope();
  const keys = useQuery(read<KeyListView>(scope, scope.keysApi));
  const members = useQuery(read<{ members: MemberView[] }>(scope, `${scope.api}members/`));
  return (
    <Card title="Access">
      <Facts>
        <Fact name="Keys">
          <Shown of={keys} loading="…">
            {(list) => <PageLink to="keys">{activeOf(list.keys)}</PageLink>}
          </Shown>
        </Fact>
        <Fact name="Members">
          <Shown of={members} loading="…">
            {(list) => <PageLink to="members">{activeOf(list.members)}</PageLink>}
          </Shown>
        </Fact>
      </Facts>
    </Card>
  );
}

/** `3 active, 1 inactive`. */
function activeOf(rows: readonly { readonly is_active: boolean }[]): string {
  const active = rows.filter(({ is_active }) => is_active).length;
  const others = rows.length - active;
  return `${count(active)} active${others === 0 ? '' : `, ${count(others)} inactive`}`;
}

function SwitchAccount({ of: { id, name, is_active } }: { of: ListedAccountView }) {
  const [isAsked, setAsked] = useState(false);
  const change = async () => {
    await ask(`/api/admin/accounts/${id}/`, { method: 'PATCH', body: { is_active: !is_active } });
    announce(is_active ? 'Account deactivated.' : 'Account reactivated.');
  };
  const verb = is_active ? 'Deactivate' : 'Reactivate';
  return (
    <>
      <Button variant="default" onClick={() => setAsked(true)}>
        {verb}
      </Button>
      {isAsked && (
        <Confirm
          title={`${verb} ${name}?`}
          verb={verb}
          danger={is_active}
          act={change}
          onClose={() => setAsked(false)}
        >
          <p>
            {is_active
              ? 'Every gateway refuses all keys of the account at once. Calls in flight end normally. The balance stays.'
              : 'Its active keys work again at once, and spend its balance.'}
          </p>
        </Confirm>
      )}
    </>
  );
}
