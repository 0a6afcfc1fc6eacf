import { useQuery } from '@tanstack/react-query';
import type { OwnKeyView } from '../../../api/keys/key-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { callLimitWords } from '../format/call-limits.ts';
import { isReached, WhatIsLeft } from '../limits/what-is-left.tsx';
import { useScope } from '../session/scope.ts';
import { Card } from '../ui/elements.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { UseKey } from '../use-key/use-key.tsx';
import { Attention } from './attention.tsx';
import { Errors, SpendByModel } from './cards.tsx';
import { SpendFigures, useDays } from './figures.tsx';

/** Home of a key that can't manage: what is left of it, and whether its calls are refused. */
export default function KeyHome() {
  const scope = useScope();
  const key = useQuery({ ...read<OwnKeyView>(scope, '/api/key/'), refetchInterval: POLL_MS });
  const days = useDays();
  return (
    <Page title="Home">
      <Attention />
      <Shown of={key}>
        {(own) => (
          <>
            <RefusedNow of={own} />
            <Card title={`What is left of “${own.name}”`}>
              <WhatIsLeft
                limits={own.limits}
                none="This key has no spending limit. It spends the credits of its account."
              />
              <Rates of={own} />
            </Card>
          </>
        )}
      </Shown>
      <SpendFigures days={days} />
      <div className="columns">
        <Errors />
        <Card title="Use this key">
          <UseKey />
        </Card>
      </div>
      <SpendByModel />
    </Page>
  );
}

function Rates({ of: key }: { of: OwnKeyView }) {
  const words = callLimitWords(key);
  return words.length === 0 ? null : <p className="hint limits-rates">{words.join(' · ')}</p>;
}

/** Says why calls with the key are refused now; nothing if they are not. */
function RefusedNow({ of: { status, limits } }: { of: OwnKeyView }) {
  const why = WHY_REFUSED[status];
  const isSpent = limits.some(isReached);
  if (why === undefined) return null;
  return (
    <Note kind="danger">
      <p>
        <strong>Calls with this key are refused now.</strong> {why}{' '}
        {isSpent && 'Ask whoever gave you the key to raise the limit, or wait for its reset.'}
      </p>
    </Note>
  );
}

const WHY_REFUSED: Readonly<Record<string, string>> = {
  limit_reached: 'A spending limit is reached.',
  expired: 'The key has expired.',
  inactive: 'The key is inactive.',
  all_refused: 'The last calls were all refused: see the errors below.',
};
