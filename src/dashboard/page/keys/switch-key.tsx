import { useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { signOut } from '../session/session.ts';
import { announce } from '../ui/announcements.tsx';
import { leave } from '../ui/leave-guard.ts';
import { isOwnKey } from './key-label.tsx';
import { SwitchDialog } from './switch-dialog.tsx';

/** Button that deactivates a key, or activates it again, after a question. */
export function SwitchKey({ of: key, onChanged }: { of: KeyView; onChanged: (key: KeyView) => void }) {
  const [isAsking, setAsking] = useState(false);
  const onSwitched = (switched: KeyView) => {
    if (!switched.is_active && isOwnKey(switched)) {
      const reason = 'You deactivated the key you were signed in with.';
      leave(() => signOut(reason), reason);
      return;
    }
    onChanged(switched);
    announce(`Key “${switched.name}” ${switched.is_active ? 'reactivated' : 'deactivated'}.`);
  };
  return (
    <>
      <button type="button" className={key.is_active ? 'danger-quiet' : ''} onClick={() => setAsking(true)}>
        {key.is_active ? 'Deactivate' : 'Reactivate'}
      </button>
      {isAsking && (
        <SwitchDialog of={key} path="/api/keys/" onSwitched={onSwitched} onClose={() => setAsking(false)}>
          {key.is_active ? (
            <>
              <p>Calls with this key are refused at every gateway. You can reactivate it later.</p>
              {isOwnKey(key) && (
                <p>
                  <strong>You are signed in with this key</strong>: you will be signed out, and need another
                  key that manages to reactivate it.
                </p>
              )}
            </>
          ) : (
            <p>Anyone who has its value can make calls with it again, with its current settings.</p>
          )}
        </SwitchDialog>
      )}
    </>
  );
}
