import type { CreatedKeyView } from '../../../domain/key-view.ts';
import { CopyValue } from '../ui/copy-value.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Note } from '../ui/note.tsx';

/** The one time that the value of a key is shown. It closes by its button only: a slip would lose the key. */
export function CreatedKey({ of, onDone }: { of: CreatedKeyView; onDone: () => void }) {
  return (
    <Dialog title={`The key “${of.name}”`}>
      <Note kind="warning">
        <p>{of._service.note}</p>
      </Note>
      <CopyValue label="Key value" value={of.key} />
      <div class="actions">
        <button type="button" onClick={onDone}>
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}
