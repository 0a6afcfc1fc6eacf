import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import type { ModelView } from '../../../api/models/model-view.ts';
import { sendTestCall, type TestAnswer } from '../api/test-call.ts';
import { useAction } from '../api/use-action.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyValue } from '../ui/copy-value.tsx';
import { FailureNote } from '../ui/note.tsx';
import { byTestPrice, testPrice } from './cheapest.ts';

/** Sends one small call with a key, and shows the answer, what it was charged, and its request id. */
export function TestCall({ token, models }: { token: string; models: readonly ModelView[] }) {
  const cheapest = byTestPrice(models);
  const [chosen, setChosen] = useState(cheapest[0]?.id ?? '');
  const model = cheapest.find(({ id }) => id === chosen);
  const [answer, setAnswer] = useState<TestAnswer>();
  const action = useAction(async () => {
    setAnswer(undefined);
    if (model) setAnswer(await sendTestCall(token, model));
  });
  if (model === undefined)
    return <p className="hint">This key can call no text model, so there is no test call.</p>;
  return (
    <div className="test-call">
      <div className="test-call-row">
        <NativeSelect
          label="Model of the test call"
          value={chosen}
          data={cheapest.map(({ id }) => id)}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <button type="button" className="primary" aria-disabled={action.isBusy} onClick={() => action.run()}>
          {action.isBusy ? 'Sending…' : 'Send a test call'}
        </button>
      </div>
      <p className="hint">
        It costs at most <Amount of={Math.ceil(testPrice(model) * 1_000_000) / 1_000_000} /> credits.
      </p>
      <FailureNote error={action.error} />
      <div aria-live="polite">{answer && <Answer of={answer} />}</div>
    </div>
  );
}

function Answer({ of: { text, charge, id } }: { of: TestAnswer }) {
  return (
    <>
      <dl className="settings">
        <div>
          <dt>Answer</dt>
          <dd>{text}</dd>
        </div>
        <div>
          <dt>Charge</dt>
          <dd>{charge === undefined ? 'not known yet: see Requests' : <Amount of={charge} />}</dd>
        </div>
      </dl>
      <CopyValue label="Request ID" value={id} />
    </>
  );
}
