import { useState } from 'react';
import { HERE } from '../base.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { Note } from '../ui/note.tsx';
import { EntryFrame, FirstFocus, goTo, NewPersonForm, NoSecret } from './entry.tsx';
import { secret } from './secret.ts';

const TITLE = 'Set up Tollgate';

/** The first run: makes the operator, who also owns the demo account. */
export default function SetupPage() {
  const [isGone, setGone] = useState(false);
  if (secret === '') {
    return <NoSecret title={TITLE}>Open the setup link that the gateway printed at its start.</NoSecret>;
  }
  const setUp = async (person: object) => {
    try {
      await ask('/api/setup/', { method: 'POST', body: { code: secret, ...person } });
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'setup_gone') throw error;
      return setGone(true);
    }
    goTo(new URL('operator/home', HERE));
  };
  return (
    <EntryFrame
      title={TITLE}
      words="You become the operator of this gateway, and the owner of its demo account if there is one."
    >
      {isGone ? (
        <Note kind="warning">
          <p>
            This link was used, or is of an earlier start of the gateway. Each start without an operator
            prints a new one. To make one at any time, run:
          </p>
          <p>
            <code>tollgate person create --operator you@example.com</code>
          </p>
        </Note>
      ) : (
        <FirstFocus>
          <NewPersonForm verb="Create operator" send={setUp} />
        </FirstFocus>
      )}
      <p className="sign-in-foot">
        <a href={new URL('sign-in?by=key', HERE).href}>Skip: use keys and the admin token only</a>
      </p>
    </EntryFrame>
  );
}
