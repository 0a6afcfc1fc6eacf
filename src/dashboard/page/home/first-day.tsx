import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { KeyListView } from '../../../api/keys/key-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { Card } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { UseKey } from '../use-key/use-key.tsx';

/** Steps of an account without any call, in place of figures that would all be 0. */
export function FirstDay({ balance }: { balance: number }) {
  const scope = useScope();
  const keys = useQuery({
    ...read<KeyListView>(scope, `${scope.keysApi}?limit=20`),
    refetchInterval: POLL_MS,
  });
  const { can } = scope;
  // The first key of an account manages it, and is for no app.
  const hasKey = keys.data?.keys.some(({ can_manage }) => !can_manage) ?? false;
  return (
    <Card title="Make your first call">
      <p className="section-words">
        This account has <Amount of={balance} /> credits. Calls, spend and errors appear here as soon as there
        are any.
      </p>
      <ol className="first-day">
        <Step title="Create a key for your app" isDone={hasKey}>
          {can('change keys') ? (
            <>
              <p className="hint">
                Give each app its own key, with a spending limit. You can send a test call with it at once.
              </p>
              <Button component={PageLink} to="keys/new" variant={hasKey ? 'default' : 'filled'}>
                Create key
              </Button>
            </>
          ) : (
            <p className="hint">Ask an owner or admin of this account for one.</p>
          )}
        </Step>
        <Step title="Call a model with it">
          <UseKey />
        </Step>
        {can('change members') && (
          <Step title="Invite your colleagues">
            <p className="hint">Each person signs in, makes keys and has limits of their own.</p>
            <Button component={PageLink} to="members" variant="default">
              Open Members
            </Button>
          </Step>
        )}
      </ol>
    </Card>
  );
}

function Step({ title, isDone = false, children }: { title: string; isDone?: boolean; children: ReactNode }) {
  return (
    <li className={isDone ? 'step-done' : undefined}>
      <h3>
        {title}
        {isDone && ' ✓'}
      </h3>
      {children}
    </li>
  );
}
