import { useState } from 'react';
import type { KeyPatchBody, KeyView, RotatedKeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask, certain } from '../data/client.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { changesBetween } from './key-words.ts';

type Versioned = Pick<KeyView, 'version'>;

/** Changes of a key in its scope. Each is refused with `version_conflict` if the stored key has another version. */
export interface KeyApi {
  /** Path of the key in the API. */
  readonly path: string;
  read(): Promise<KeyView>;
  patch(body: KeyPatchBody, of: Versioned): Promise<KeyView>;
  /** Deactivates the key, also if its restrictions are locked. */
  remove(of: Versioned): Promise<void>;
  /** Gives the key a new value. Rejects with `answer_lost` if it is unknown whether it did. */
  rotate(graceSeconds: number, of: Versioned): Promise<RotatedKeyView>;
  /** Ends the previous value. */
  endGrace(of: Versioned): Promise<KeyView>;
}

export function useKeyApi(id: number): KeyApi {
  return keyApi(useScope(), id);
}

export function keyApi({ keysApi, accountHeader: account }: Scope, id: number): KeyApi {
  const path = `${keysApi}${id}/`;
  const asked = ({ version }: Versioned, body?: unknown) => ({
    account,
    headers: { 'if-match': `"${version}"` },
    ...(body !== undefined && { body }),
  });
  return {
    path,
    read: () => ask(path, { account }),
    patch: (body, of) => ask(path, { method: 'PATCH', ...asked(of, body) }),
    remove: (of) => ask(path, { method: 'DELETE', ...asked(of) }),
    rotate: (grace_seconds, of) =>
      certain(
        ask(`${path}rotate/`, { method: 'POST', ...asked(of, { grace_seconds }) }),
        'The gateway did not confirm whether the key was rotated. Try again: if it was, you are asked before it is rotated a second time.',
        'service_unavailable',
      ),
    endGrace: (of) => ask(`${path}rotate/`, { method: 'POST', ...asked(of, { end_grace: true }) }),
  };
}

/** True if a key is that of the session, whichever of its values the session began with. */
export function isOwnKey({ me }: Scope, { id }: Pick<KeyView, 'id'>): boolean {
  return me.key?.id === id;
}

/**
 * An action on a key as the user saw it. If the key was changed meanwhile, `act` resolves with undefined: `before` and
 * `seen` are to be shown then, and the next `act` is for what was seen.
 */
export function useOnSeen(key: KeyView, { read }: KeyApi) {
  const [seen, setSeen] = useState(key);
  const [before, setBefore] = useState<KeyView>();
  const act = async <Result>(
    send: (key: KeyView) => Promise<Result>,
    on: KeyView = seen,
  ): Promise<Result | undefined> => {
    try {
      return await send(on);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
      const now = await read();
      if (changesBetween(on, now).length === 0) return act(send, now);
      setBefore(on);
      setSeen(now);
      return undefined;
    }
  };
  return { seen, before, act };
}
