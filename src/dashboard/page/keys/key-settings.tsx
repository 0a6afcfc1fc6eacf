import { useEffect, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { explainCall, OWN } from '../api/account.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { changeKey, readKey } from '../api/keys.ts';
import { useAction } from '../api/use-action.ts';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { differencesOf, isSameSettings } from './key-differences.ts';
import { draftOf } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';
import { isOwnKey } from './key-label.tsx';
import { lockOutOf } from './lock-out.ts';
import { changesOf, readDraft } from './read-draft.ts';

/**
 * Form of an existing key. It asks before it saves where the stored key is no longer the version that the form was
 * filled from, and where saving would lock the user out.
 */
export function KeySettings({ of: key, onChanged }: { of: KeyView; onChanged: (key: KeyView) => void }) {
  const [filledFrom, setFilledFrom] = useState(key);
  const [draft, setDraft] = useState(() => draftOf(key));
  /** Reasons why saving would lock the user out, while the dialog asks about them. */
  const [lockOut, setLockOut] = useState<readonly string[]>([]);
  /** The key as somebody else saved it meanwhile, while the dialog asks about it. */
  const [theirs, setTheirs] = useState<KeyView>();
  // Switching the key off or on makes another version, but changes no setting that the form has.
  const base = isSameSettings(filledFrom, key) ? key : filledFrom;
  const read = readDraft(draft);
  const changes = changesOf(draft, base, read);
  const isUnchanged = Object.keys(changes).length === 0 && Object.keys(read.errors).length === 0;
  useUnsaved(!isUnchanged);

  const fill = (from: KeyView) => {
    setFilledFrom(from);
    setDraft(draftOf(from));
  };
  useEffect(() => {
    if (isUnchanged) fill(key);
  }, [key]);
  const adopt = (saved: KeyView) => {
    setTheirs(undefined);
    onChanged(saved);
    // Shows the key as it is stored: normalised, and with the fields that the gateway decided.
    fill(saved);
  };
  const send = async (version: number): Promise<void> => {
    try {
      const saved = await changeKey(key.id, changes, version);
      adopt(saved);
      announce(`Key “${saved.name}” saved.`);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
      const current = await readKey(key.id);
      // The key was switched off or on, and nothing else was changed.
      if (isSameSettings(current, base)) return send(current.version);
      setTheirs(current);
    }
  };
  const save = useAction(async () => {
    const explain = () => explainCall(OWN, key.id, { model: 'any' });
    const reasons = isOwnKey(key) ? await lockOutOf(base, changes, location.origin, explain) : [];
    setLockOut(reasons);
    if (reasons.length === 0) await send(base.version);
  });
  return (
    <>
      <KeyForm
        known={base}
        draft={draft}
        onDraft={setDraft}
        faults={read.errors}
        save={save}
        verb="Save changes"
        isUnchanged={isUnchanged}
      />
      {lockOut.length > 0 && (
        <Confirm
          title="Lock yourself out?"
          verb="Save anyway"
          danger
          act={() => send(base.version)}
          onClose={() => setLockOut([])}
        >
          <p>
            <strong>You are signed in with this key.</strong> Once this is saved, you may need another key
            that manages to undo it, or the operator:
          </p>
          <ul className="reasons">
            {lockOut.map((reason) => (
              <li key={reason}>{reason}</li>
            ))}
          </ul>
        </Confirm>
      )}
      {theirs && (
        <Conflict
          of="key"
          differences={differencesOf(changes, base, theirs)}
          onKeepTheirs={() => adopt(theirs)}
          saveMine={() => send(theirs.version)}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </>
  );
}
