import { useState } from 'preact/hooks';
import type { KeyView } from '../../../api/views/key-view.ts';
import { changeKey } from '../api/keys.ts';
import { signOut } from '../session/session.ts';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { leave } from '../ui/leave-guard.ts';
import { isOwnKey } from './key-label.tsx';

/** Button that deactivates a key, or activates it again, after a question. */
export function SwitchKey({ of: key, onChanged }: { of: KeyView; onChanged: (key: KeyView) => void }) {
  const [isAsking, setAsking] = useState(false);
  const deactivate = async () => {
    const changed = await changeKey(key.id, { is_active: false });
    if (isOwnKey(key)) {
      const reason = 'You have deactivated the key that you were signed in with.';
      return leave(() => signOut(reason), reason);
    }
    onChanged(changed);
    announce(`The key “${key.name}” is deactivated.`);
  };
  const reactivate = async () => {
    onChanged(await changeKey(key.id, { is_active: true }));
    announce(`The key “${key.name}” is active again.`);
  };
  const close = () => setAsking(false);
  return (
    <>
      <button type="button" class={key.is_active ? 'danger-quiet' : ''} onClick={() => setAsking(true)}>
        {key.is_active ? 'Deactivate' : 'Reactivate'}
      </button>
      {isAsking && key.is_active && (
        <Confirm
          title={`Deactivate “${key.name}”?`}
          verb="Deactivate"
          danger
          act={deactivate}
          onClose={close}
        >
          <p>Calls with this key are refused from now on, at every gateway. You can reactivate it later.</p>
          {isOwnKey(key) && (
            <p>
              <strong>This is the key that you signed in with</strong>: you will be signed out, and need
              another key that manages to reactivate it.
            </p>
          )}
        </Confirm>
      )}
      {isAsking && !key.is_active && (
        <Confirm title={`Reactivate “${key.name}”?`} verb="Reactivate" act={reactivate} onClose={close}>
          <p>Whoever has its value can make calls with it again, with the settings that it has.</p>
        </Confirm>
      )}
    </>
  );
}
