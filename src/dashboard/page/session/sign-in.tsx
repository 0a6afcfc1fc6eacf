import { useEffect, useState } from 'react';
import { HERE } from '../base.ts';
import { ask } from '../data/client.ts';
import { Note } from '../ui/note.tsx';
import {
  EntryFrame,
  FirstFocus,
  goTo,
  Once,
  PasswordSignIn,
  Providers,
  readSession,
  readWays,
  Secret,
  ToDashboard,
} from './entry.tsx';
import { failureIn, nextIn } from './entry-address.ts';
import { farewell } from './farewell.ts';
import { keepNext } from './kept-next.ts';
import { entry } from './secret.ts';
import { given, TextsForm, useTexts } from './texts-form.tsx';

const next = () => nextIn(location.search, HERE);
const enter = () => goTo(next());

/** Sign-in of a person, or on demand with a key or the admin token. */
export default function SignInPage() {
  const query = new URLSearchParams(location.search);
  const [isByKey, setByKey] = useState(query.get('by') === 'key');
  const failure = failureIn(location.search);
  const isSignedIn = useSession(failure === undefined);
  return (
    <EntryFrame title="Sign in" words="Credits, keys and every call to your AI models.">
      {failure && (
        <Note kind="danger">
          <p>{failure}</p>
          {isSignedIn && <ToDashboard />}
        </Note>
      )}
      {farewell.reason && (
        <Note kind="warning">
          <p>{farewell.reason}</p>
        </Note>
      )}
      <Once read={readWays}>
        {({ passwords, oidc }) => (
          // Another form begins with its first field.
          <FirstFocus key={String(isByKey)}>
            {isByKey ? (
              <KeySignIn />
            ) : (
              <>
                <Providers names={oidc} before={() => keepNext(next())} />
                {passwords && oidc.length > 0 && <p className="entry-or">or</p>}
                {passwords && <PasswordSignIn onDone={enter} />}
                {!passwords && oidc.length === 0 && <p>People can't sign in to this gateway.</p>}
              </>
            )}
            <p className="sign-in-foot">
              <button type="button" className="link" onClick={() => setByKey(!isByKey)}>
                {isByKey ? 'Use your e-mail address' : 'Use an API key or the admin token'}
              </button>
            </p>
            {!isByKey && passwords && (
              <p className="hint">
                Forgot your password? Ask the operator of this gateway for a link to set a new one.
              </p>
            )}
          </FirstFocus>
        )}
      </Once>
    </EntryFrame>
  );
}

/**
 * Goes on at once if the document was opened with a session, as from a bookmark. With a failure to show it stays, and
 * returns whether there is a session.
 */
function useSession(mayGo: boolean): boolean {
  const [isSignedIn, setSignedIn] = useState(false);
  useEffect(() => {
    if (entry === undefined) return;
    readSession().then(
      (session) => {
        if (session && mayGo) enter();
        setSignedIn(session !== undefined);
      },
      // The form says what is wrong when it is sent.
      () => {},
    );
  }, [mayGo]);
  return isSignedIn;
}

const KEY = { key: given('an API key or the admin token') };
const REFUSED = [
  'invalid_api_key',
  'invalid_admin_token',
  'inactive_api_key',
  'expired_api_key',
  'inactive_account',
];

/** Signs in with a key, or with the admin token. The gateway exchanges it for a session with exactly its rights. */
function KeySignIn() {
  const { form, field } = useTexts(
    KEY,
    async ({ key }) => {
      await ask('/api/session/', { method: 'POST', body: { key: key.trim() } });
      enter();
    },
    { byCode: Object.fromEntries(REFUSED.map((code) => [code, 'key' as const])) },
  );
  return (
    <TextsForm {...form} verb="Sign in">
      <Secret
        {...field('key')}
        label="API key or admin token"
        description="A managing key opens its whole account, any other key only its own calls."
        autoComplete="off"
      />
    </TextsForm>
  );
}
