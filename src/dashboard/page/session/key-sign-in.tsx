import { useState } from 'react';
import { readAccount } from '../api/account.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { wordsOf } from '../api/failure.ts';
import { readKeyOfToken } from '../api/keys.ts';
import { listAccounts } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { TextField } from '../ui/field.tsx';
import { type Session, signIn } from './session.ts';

const KEY_INPUT = { required: true, spellCheck: 'false', autoCapitalize: 'off' } as const;

/** Signs in with a key, or with the operator's token. */
export function KeySignIn() {
  const [token, setToken] = useState('');
  const [isVisible, setVisible] = useState(false);
  const action = useAction(async () => signIn(await sessionOf(token.trim())));
  const error = action.error === undefined ? undefined : wordsOf(action.error);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void action.run();
      }}
    >
      <TextField
        name="token"
        label="API key"
        hint="A managing key opens its whole account, any other key only its own calls. Operators enter the admin token."
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
        <span>Show key</span>
      </label>
      <button type="submit" className="primary wide" disabled={action.isBusy}>
        {action.isBusy ? 'Signing in…' : 'Sign in'}
      </button>
      <p className="sign-in-foot hint">
        The value stays in this tab and is sent to this gateway only. No key? The operator of this gateway
        creates your account and its first key.
      </p>
    </form>
  );
}

/** How the values of keys end: 32 random characters and a checksum of 6. */
const KEY_FORM = /[0-9A-Za-z]{38}$/;

/**
 * Session for a token, which is asked for first as what it looks like: a refusal shows as an error in the browser's
 * console. Where it is neither a key nor the operator's, it rejects with the refusal of the token as a key.
 */
async function sessionOf(token: string): Promise<Session> {
  // Characters other than these cannot be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new ApiFailure(401, 'invalid_api_key', 'This is not an API key. Check that you copied all of it.');
  }
  const isKeyLike = KEY_FORM.test(token);
  const refusal = isKeyLike ? undefined : await refusalOfOperator(token);
  if (!isKeyLike && refusal === undefined) return operatorWith(token);
  try {
    return await sessionOfKey(token);
  } catch (error) {
    if (!isCode(error, 'invalid_api_key')) throw error;
    const second = refusal ?? (await refusalOfOperator(token));
    if (second === undefined) return operatorWith(token);
    if (!isCode(second, 'unknown_endpoint')) throw error;
    throw new ApiFailure(
      401,
      'invalid_api_key',
      `${error.message} Operators can't sign in, because this gateway runs without ADMIN_TOKEN.`,
    );
  }
}

function operatorWith(token: string): Session {
  return { token, role: 'operator', keyId: undefined, name: 'Operator' };
}

/** Why a token is not the operator's; undefined if it is. */
async function refusalOfOperator(token: string): Promise<unknown> {
  try {
    await listAccounts('', 1, { token });
    return undefined;
  } catch (error) {
    return error;
  }
}

async function sessionOfKey(token: string): Promise<Session> {
  const { id, can_manage, prefix, name } = await readKeyOfToken(token);
  const owner = can_manage ? await readAccount({ token }) : undefined;
  return {
    token,
    role: can_manage ? 'admin' : 'key',
    keyId: id,
    isPrevious: !token.startsWith(prefix),
    name: owner?.email ?? name,
  };
}

function isCode(error: unknown, code: string): error is ApiFailure {
  return error instanceof ApiFailure && error.code === code;
}
