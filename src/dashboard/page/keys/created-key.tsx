import { useState } from 'preact/hooks';
import type { CreatedKeyView } from '../../../api/views/key-view.ts';
import { CopyValue } from '../ui/copy-value.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { Note } from '../ui/note.tsx';

const LOST = 'The value of the new key is shown this once. Whoever has not saved it has to make another key.';

/**
 * Dialog that shows the value of a new key, once. Only its button closes it, because closing by mistake loses the key.
 */
export function CreatedKey({ of, onDone }: { of: CreatedKeyView; onDone: () => void }) {
  const [isSaved, setSaved] = useState(false);
  useUnsaved(!isSaved, LOST);
  return (
    <Dialog title={`The key “${of.name}”`}>
      <Note kind="warning">
        <p>{of._service.note}</p>
      </Note>
      <CopyValue label="Key value" value={of.key} />
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            setSaved(true);
            onDone();
          }}
        >
          I have saved it
        </button>
      </div>
    </Dialog>
  );
}
