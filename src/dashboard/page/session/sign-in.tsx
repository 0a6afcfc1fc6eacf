import { useEffect, useState } from 'preact/hooks';
import { readAccount } from '../api/account.ts';
import { wordsOf } from '../api/failure.ts';
import { listAccounts } from '../api/operator.ts';
import { ApiFailure } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { TextField } from '../ui/field.tsx';
import { Note } from '../ui/note.tsx';
import { farewell, type Session, signIn } from './session.ts';

const KEY_INPUT = { required: true, spellcheck: false, autocapitalize: 'off' } as const;

export function SignIn() {
  const [token, setToken] = useState('');
  const [isVisible, setVisible] = useState(false);
  const action = useAction(async () => signIn(await sessionOf(token.trim())));
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
  }, []);
  const error = action.error === undefined ? undefined : wordsOf(action.error);
  return (
    <main class="sign-in">
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault();
          void action.run();
        }}
      >
        <p class="brand">Tollgate</p>
        <h1>Sign in</h1>
        {farewell.value && (
          <Note kind="warning">
            <p>{farewell.value}</p>
          </Note>
        )}
        <TextField
          name="token"
          label="API key"
          hint="Operators sign in with the operator token. It is kept in this tab only, and sent to this gateway only."
          error={error}
          value={token}
          onValue={setToken}
          input={isVisible ? { type: 'text', ...KEY_INPUT } : { type: 'password', ...KEY_INPUT }}
        />
        <label class="tick">
          <input
            type="checkbox"
            checked={isVisible}
            onChange={(event) => setVisible(event.currentTarget.checked)}
          />
          <span>Show it</span>
        </label>
        <button type="submit" class="primary wide" disabled={action.isBusy}>
          {action.isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

/**
 * Whose token it is. What is no key at all may be the operator's; where it is not that either, or there is no operator's
 * API, the answer about the key counts.
 */
async function sessionOf(token: string): Promise<Session> {
  // Other characters cannot stand in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ApiFailure(401, 'invalid_api_key', 'That is no API key. Check that it was copied whole.');
  }
  try {
    await readAccount({ token });
    return { token, role: 'owner' };
  } catch (refusal) {
    if (!(refusal instanceof ApiFailure) || refusal.code !== 'invalid_api_key') throw refusal;
    try {
      await listAccounts(null, 1, { token });
      return { token, role: 'operator' };
    } catch {
      throw refusal;
    }
  }
}
