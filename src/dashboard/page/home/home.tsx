import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import type { AccountView } from '../../../api/account/account-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { WhatIsLeft } from '../limits/what-is-left.tsx';
import { meQuery } from '../session/me.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { Card } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Loading, Shown } from '../ui/shown.tsx';
import { UseKey } from '../use-key/use-key.tsx';
import { Attention } from './attention.tsx';
import { Errors, MyKeys, NearestLimits, SpendByKey, SpendByModel } from './cards.tsx';
import { SpendFigures, useDays } from './figures.tsx';
import { FirstDay } from './first-day.tsx';
import { resultsOf } from './pace.ts';
import '../style/home.css';

/** Apart, because it needs the readers of a key's settings, which weigh as much as the rest of Home. */
const KeyHome = lazy(() => import('./key-home.tsx'));

/** First page of an account. What it has follows from what the session may see: the account, its money, or its own. */
export default function HomePage() {
  const scope = useScope();
  if (scope.reach('read the account') === 'all') {
    return scope.can('read keys') ? <AccountHome /> : <MoneyHome />;
  }
  if (scope.membership) return <MemberHome />;
  return (
    <Suspense fallback={<Loading />}>
      <KeyHome />
    </Suspense>
  );
}

function useAccount(scope: Scope) {
  return useQuery({ ...read<AccountView>(scope, scope.api), refetchInterval: POLL_MS });
}

/** Home of who manages or watches an account. */
function AccountHome() {
  const scope = useScope();
  const account = useAccount(scope);
  const days = useDays();
  const rows = days.data?.rows;
  const isNew = rows !== undefined && resultsOf(rows, 60, Date.now()).all === 0;
  return (
    <Page title="Home">
      <Attention />
      <Shown of={account}>
        {(data) => (
          <>
            <NoCredits account={data} />
            {isNew && <FirstDay balance={data.credits_balance} />}
            {!isNew && <SpendFigures account={data} days={days} />}
          </>
        )}
      </Shown>
      {!isNew && (
        <>
          <SpendByModel />
          <div className="columns">
            <Errors />
            <NearestLimits />
          </div>
        </>
      )}
    </Page>
  );
}

/** Home of who sees the money of an account, and none of its keys. */
function MoneyHome() {
  const account = useAccount(useScope());
  const days = useDays();
  return (
    <Page
      title="Home"
      actions={
        <Button component={PageLink} to="billing">
          Open Billing
        </Button>
      }
    >
      <Attention />
      <Shown of={account}>
        {(data) => (
          <>
            <NoCredits account={data} />
            <SpendFigures account={data} days={days} />
          </>
        )}
      </Shown>
      <SpendByModel />
      <div className="columns">
        <SpendByKey />
        <NearestLimits />
      </div>
    </Page>
  );
}

function NoCredits({ account }: { account: AccountView }) {
  if (account.credits_balance > 0) return null;
  return (
    <Note kind="danger">
      <p>
        <strong>No credits.</strong> Calls that cost anything are refused with{' '}
        <code>insufficient_credits</code>. Ask the operator of this gateway for a top-up.
      </p>
    </Note>
  );
}

/** Home of a member: what is left, and the own keys. */
function MemberHome() {
  const { membership, accountId } = useScope();
  const days = useDays();
  // The limits of a membership are in the answer of who is signed in.
  const { data: me } = useQuery({ ...meQuery, refetchInterval: POLL_MS });
  const own = me?.memberships.find(({ account }) => account.id === accountId) ?? membership;
  return (
    <Page title="Home">
      <Attention />
      <Card title="What is left">
        <WhatIsLeft
          limits={own?.limits ?? []}
          yours={['member']}
          none="You have no spending limit. Those of the account and of your keys apply."
        />
      </Card>
      <SpendFigures days={days} />
      <div className="columns">
        <MyKeys
          create={
            <p>
              {own?.can_create_keys ? (
                <PageLink to="keys/new">Create key</PageLink>
              ) : (
                'Ask an owner or admin of this account for one.'
              )}
            </p>
          }
        />
        <Errors title="My errors in 24 hours" />
      </div>
      <SpendByModel />
      <Card title="Use a key">
        <UseKey />
      </Card>
    </Page>
  );
}
