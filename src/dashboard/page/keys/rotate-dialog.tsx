import { useRef, useState } from 'react';
import type { KeyView, RotatedKeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { type KeysPath, readKeyOf, rotateKey } from '../api/rotation.ts';
import { useAction } from '../api/use-action.ts';
import { moment, zone } from '../format/time.ts';
import { renew } from '../session/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { focusFirstFault } from '../ui/field.tsx';
import { FailureNote } from '../ui/note.tsx';
import { ChangedMeanwhile } from './changed-meanwhile.tsx';
import { A_DAY, GraceChoice, graceSeconds, graceSecondsSoFar } from './grace-choice.tsx';
import { changesBetween } from './key-differences.ts';
import { isOwnKey } from './key-label.tsx';
import { RotatedKey } from './rotated-key.tsx';

/** Dialog that gives a key a new value and shows it once. It asks again where the key was changed meanwhile. */
export function RotateDialog(props: {
  of: KeyView;
  path: KeysPath;
  /** E-mail address of the account, for the operator. */
  owner?: string;
  onRotated: (answer: RotatedKeyView) => void;
  onClose: () => void;
}) {
  const { path } = props;
  /** The key as the user last saw it. */
  const [seen, setSeen] = useState(props.of);
  /** The key as it was before it was changed meanwhile, while the dialog asks about that. */
  const [before, setBefore] = useState<KeyView>();
  const [grace, setGrace] = useState(A_DAY);
  const [rotated, setRotated] = useState<RotatedKeyView>();
  const form = useRef<HTMLFormElement>(null);
  const isOwn = isOwnKey(seen);

  const send = async (key: KeyView, graceS: number): Promise<void> => {
    try {
      const answer = await rotateKey(path, key, graceS);
      // Comes first, because the present value may be refused already.
      if (isOwn) renew(answer.key);
      setRotated(answer);
      props.onRotated(answer);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
      const now = await readKeyOf(path, key.id);
      if (changesBetween(key, now).length === 0) return send(now, graceS);
      setBefore(key);
      setSeen(now);
    }
  };
  const action = useAction(async () => send(seen, graceSeconds(grace)));
  if (rotated) return <RotatedKey of={rotated} isOwn={isOwn} onDone={props.onClose} />;

  const atField = fieldOf(action.error, ['grace_seconds']) && wordsOf(action.error);
  const isChanged = before !== undefined;
  return (
    <Dialog title={isChanged ? 'This key was changed' : titleOf(seen, props.owner)} onCancel={props.onClose}>
      <form
        ref={form}
        noValidate
        onSubmit={async (event) => {
          event.preventDefault();
          await action.run();
          focusFirstFault(form.current);
        }}
      >
        {isChanged && <ChangedMeanwhile before={before} now={seen} done="rotated" />}
        <p className="section-words">
          The key gets a new value, which is shown once. Its settings, spend and ledger do not change.
        </p>
        <GraceChoice
          grace={grace}
          onGrace={(chosen) => {
            action.forget();
            setGrace(chosen);
          }}
          error={atField}
        />
        <Consequences of={seen} graceS={graceSecondsSoFar(grace)} isOwn={isOwn} />
        {!atField && <FailureNote error={action.error} />}
        <div className="actions">
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="submit" className={isChanged ? 'danger' : 'primary'} aria-disabled={action.isBusy}>
            {isChanged ? 'Rotate anyway' : 'Rotate'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function titleOf(key: KeyView, owner: string | undefined): string {
  return owner === undefined ? `Rotate “${key.name}”?` : `Rotate “${key.name}” of ${owner}?`;
}

/** Description of what a rotation with this grace does; `graceS` is undefined while the typed time is none. */
function Consequences({
  of: key,
  graceS,
  isOwn,
}: {
  of: KeyView;
  graceS: number | undefined;
  isOwn: boolean;
}) {
  const older = key.previous_valid_until;
  return (
    <div className="consequences" aria-live="polite">
      {graceS !== undefined && (
        <p>
          {graceS === 0
            ? 'The current value stops working at every gateway as soon as the key is rotated.'
            : `Both values work until ${endOf(graceS)} and count as one key. Then the current one stops working at every gateway.`}
        </p>
      )}
      {older !== null && (
        <p>
          <strong>The previous value, which is still valid, ends immediately</strong>: a key has two values at
          most.
        </p>
      )}
      {!key.is_active && <p>The key stays inactive. If you reactivate it, only the new value works.</p>}
      {isOwn && (
        <p>
          <strong>You are signed in with this key.</strong> This tab goes on with the new value; others
          {graceS === 0 ? ' are' : ', after that time, are'} signed out.
        </p>
      )}
    </div>
  );
}

function endOf(graceS: number): string {
  const at = new Date(Date.now() + graceS * 1_000).toISOString();
  return `${moment(at, zone.value, graceS < 3_600)}${zone.value === 'utc' ? ' UTC' : ''}`;
}
