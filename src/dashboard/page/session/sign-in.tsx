import { useEffect, useRef, useState } from 'react';
import { wordsOf } from '../api/failure.ts';
import { readKeyOfToken } from '../api/keys.ts';
import { listAccounts } from '../api/operator.ts';
import { ApiFailure } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { TextField } from '../ui/field.tsx';
import { Mark } from '../ui/mark.tsx';
import { Note } from '../ui/note.tsx';
import { farewell, type Session, signIn } from './session.ts';

const KEY_INPUT = { required: true, spellCheck: 'false', autoCapitalize: 'off' } as const;

export function SignIn() {
  const [token, setToken] = useState('');
  const [isVisible, setVisible] = useState(false);
  const action = useAction(async () => signIn(await sessionOf(token.trim())));
  useEffect(() => {
    document.title = 'Sign in · Tollgate';
    form.current?.querySelector<HTMLElement>('input')?.focus();
  }, []);
  const form = useRef<HTMLFormElement>(null);
  const error = action.error === undefined ? undefined : wordsOf(action.error);
  return (
    <main className="sign-in">
      <form
        ref={form}
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          void action.run();
        }}
      >
        <p className="brand">
          <Mark /> Tollgate
        </p>
        <h1>Sign in</h1>
        {farewell.value && (
          <Note kind="warning">
            <p>{farewell.value}</p>
          </Note>
        )}
        <TextField
          name="token"
          label="API key"
          hint="Operators enter the admin token. The value stays in this tab and is sent to this gateway only."
          error={error}
          value={token}
          onValue={setToken}
          input={isVisible ? { type: 'text', ...KEY_INPUT } : { type: 'password', ...KEY_INPUT }}
        />
        <label className="tick">
          <input
            type="checkbox"
            checked={isVisible}
            onChange={(event) => setVisible(event.currentTarget.checked)}
          />
          <span>Show it</span>
        </label>
        <button type="submit" className="primary wide" disabled={action.isBusy}>
          {action.isBusy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
    </main>
  );
}

/**
 * Session for a token. A token that is no key may be the operator's. Where it is not that either, or there is no
 * operator's API, it rejects with the refusal of the token as a key.
 */
async function sessionOf(token: string): Promise<Session> {
  // Characters other than these cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ApiFailure(401, 'invalid_api_key', 'This is not an API key. Check that you copied all of it.');
  }
  try {
    const { id, can_manage, prefix } = await readKeyOfToken(token);
    const role = can_manage ? 'owner' : 'key';
    return { token, role, keyId: id, isPrevious: !token.startsWith(prefix) };
  } catch (refusal) {
    if (!isCode(refusal, 'invalid_api_key')) throw refusal;
    try {
      await listAccounts('', 1, { token });
      return { token, role: 'operator', keyId: undefined };
    } catch (second) {
      if (!isCode(second, 'unknown_endpoint')) throw refusal;
      throw new ApiFailure(
        401,
        'invalid_api_key',
        `${refusal.message} Operators can't sign in, because this gateway runs without ADMIN_TOKEN.`,
      );
    }
  }
}

function isCode(error: unknown, code: string): error is ApiFailure {
  return error instanceof ApiFailure && error.code === code;
}
