import { useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { wordsOf } from '../api/failure.ts';
import { listKeys } from '../api/keys.ts';
import { useAction } from '../api/use-action.ts';
import { Time } from '../ui/elements.tsx';
import { Note } from '../ui/note.tsx';

/**
 * Note for a creation whose answer was lost. It looks for the key by its name, because trying again would create a
 * second key that works as well.
 */
export function LostKeyAnswer({ error, name }: { error: unknown; name: string }) {
  const [found, setFound] = useState<readonly KeyView[]>();
  const look = useAction(async () => {
    const keys = await listKeys();
    setFound(keys.filter((key) => key.name === name).toReversed());
  });
  return (
    <Note kind="danger">
      <p>{wordsOf(error)}</p>
      {found?.length === 0 && <p>No key is named “{name}”: it was not made. Create it again.</p>}
      {found && found.length > 0 && (
        <>
          <p>There is a key of this name. If it is the one, deactivate it, as nobody has its value:</p>
          <ul>
            {found.slice(0, 5).map((key) => (
              <li key={key.id}>
                <a href={`#/keys/${key.id}`}>{key.name}</a> <code>{key.prefix}…</code>, made{' '}
                <Time at={key.created_at} seconds />
              </li>
            ))}
          </ul>
        </>
      )}
      {look.error !== undefined && <p>{wordsOf(look.error)}</p>}
      <button type="button" aria-disabled={look.isBusy} onClick={() => look.run()}>
        {found === undefined ? 'Look for it in your keys' : 'Look again'}
      </button>
    </Note>
  );
}
