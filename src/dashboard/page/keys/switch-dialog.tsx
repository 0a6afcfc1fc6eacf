import type { ReactNode } from 'react';
import { useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { switchKey } from '../api/keys.ts';
import { type KeysPath, readKeyOf } from '../api/rotation.ts';
import { Decision } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChangedMeanwhile } from './changed-meanwhile.tsx';
import { changesBetween } from './key-differences.ts';

/**
 * Dialog that asks before a key is deactivated, or activated again. It asks once more where the key was changed
 * meanwhile.
 */
export function SwitchDialog(props: {
  of: KeyView;
  path: KeysPath;
  /** E-mail address of the account, for the operator. */
  owner?: string;
  onSwitched: (key: KeyView) => void;
  onClose: () => void;
  /** Description of what the switch does. */
  children: ReactNode;
}) {
  const { of: key, path, owner } = props;
  /** The key as the user last saw it. */
  const [seen, setSeen] = useState(key);
  /** The key as it was before it was changed meanwhile, while the dialog asks about that. */
  const [before, setBefore] = useState<KeyView>();
  // The state to switch to, as the dialog was opened for: the key may be replaced by its new state before the dialog is
  // closed.
  const [isActive] = useState(!key.is_active);
  const verb = isActive ? 'Reactivate' : 'Deactivate';
  const finish = (switched: KeyView) => {
    props.onSwitched(switched);
    props.onClose();
  };
  const send = async (known: KeyView): Promise<void> => {
    try {
      finish(await switchKey(path, known, isActive));
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
      const now = await readKeyOf(path, known.id);
      // Nothing but `is_active` was changed meanwhile.
      if (changesBetween({ ...known, is_active: now.is_active }, now).length === 0) {
        return now.is_active === isActive ? finish(now) : send(now);
      }
      setBefore(known);
      setSeen(now);
    }
  };
  const isChanged = before !== undefined;
  const title = `${verb} “${key.name}”${owner === undefined ? '' : ` of ${owner}`}?`;
  return (
    <Dialog title={isChanged ? 'This key was changed' : title} onCancel={props.onClose}>
      {isChanged && <ChangedMeanwhile before={before} now={seen} done={`${verb.toLowerCase()}d`} />}
      {props.children}
      <Decision
        verb={isChanged ? `${verb} anyway` : verb}
        danger={!isActive || isChanged}
        act={() => send(seen)}
        onClose={props.onClose}
      />
    </Dialog>
  );
}
