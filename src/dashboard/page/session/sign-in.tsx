import { useState } from 'react';
import { readWays } from '../api/people.ts';
import { useLoad } from '../api/use-load.ts';
import { providerFailure } from '../entry.ts';
import { entry } from '../entry-here.ts';
import { Note } from '../ui/note.tsx';
import { EntryFrame } from './entry-frame.tsx';
import { KeySignIn } from './key-sign-in.tsx';
import { PersonSignIn, providerHref } from './person-sign-in.tsx';
import { farewell } from './session.ts';

/** Sign-in of a person, or on demand with a key or the operator's token. */
export function SignIn() {
  const [isByKey, setByKey] = useState(false);
  const ways = useLoad(readWays);
  const failure = entry === 'sign-in' ? providerFailure(location.search) : undefined;
  return (
    <EntryFrame
      title="Sign in"
      words="Credits, keys and every call to your AI models."
      focusOn={`${isByKey} ${ways.isLoading}`}
    >
      {failure && (
        <Note kind="danger">
          <p>{failure}</p>
        </Note>
      )}
      {farewell.value && (
        <Note kind="warning">
          <p>{farewell.value}</p>
        </Note>
      )}
      {isByKey ? (
        <KeySignIn />
      ) : (
        <PersonSignIn ways={ways} provider={(name) => ({ href: providerHref(name) })} />
      )}
      <p>
        <button type="button" className="link" onClick={() => setByKey(!isByKey)}>
          {isByKey ? 'Use your email address' : 'Use an API key or the admin token'}
        </button>
      </p>
    </EntryFrame>
  );
}
