import { useRef } from 'preact/hooks';
import type { KeyView } from '../../../api/views/key-view.ts';
import type { KeyChange } from '../api/keys.ts';
import { useAction } from '../api/use-action.ts';
import { Dialog } from '../ui/dialog.tsx';
import { focusFirstFault } from '../ui/field.tsx';
import { FailureNote } from '../ui/note.tsx';
import { Table } from '../ui/table.tsx';
import { differencesOf } from './key-differences.ts';

/** Dialog for a key that was saved elsewhere while its form was open. It asks which settings to keep. */
export function KeyConflict(props: {
  changes: KeyChange;
  base: KeyView;
  theirs: KeyView;
  onKeepTheirs: () => void;
  saveMine: () => Promise<unknown>;
  onClose: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const save = useAction(props.saveMine);
  const differences = differencesOf(props.changes, props.base, props.theirs);
  return (
    <Dialog title="This key was changed meanwhile" onCancel={props.onClose}>
      <p>
        Somebody else, or you in another tab, saved it after this page was loaded. Nothing of yours is saved
        yet.
      </p>
      {differences.length > 0 && (
        <Table label="What differs" columns={['Setting', 'Yours', 'Saved meanwhile']}>
          {differences.map(({ label, mine, theirs }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              <td>{mine ?? 'not changed by you'}</td>
              <td>{theirs}</td>
            </tr>
          ))}
        </Table>
      )}
      <p>What you did not change stays as it was saved.</p>
      <div ref={frame}>
        <FailureNote error={save.error} />
      </div>
      <div class="actions">
        <button type="button" onClick={props.onClose}>
          Back to the form
        </button>
        <button type="button" onClick={props.onKeepTheirs}>
          Keep what is saved
        </button>
        <button
          type="button"
          class="danger"
          aria-disabled={save.isBusy}
          onClick={async () => {
            if (!(await save.run())) focusFirstFault(frame.current);
          }}
        >
          Save mine
        </button>
      </div>
    </Dialog>
  );
}
