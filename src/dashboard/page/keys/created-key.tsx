import type { ReactNode } from 'react';
import { useState } from 'react';
import type { CreatedKeyView } from '../../../api/keys/key-view.ts';
import { CopyValue } from '../ui/copy-value.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { Note } from '../ui/note.tsx';
import { UseKey } from '../use-key/use-key.tsx';

const LOST = 'The key value is shown only once. If you do not save it now, you have to create another key.';

/** Dialog that shows the value of a new key, once. */
export function CreatedKey({ of, onDone }: { of: CreatedKeyView; onDone: () => void }) {
  return <ShownOnce title={`The key “${of.name}”`} of={of} lost={LOST} onDone={onDone} />;
}

/** Dialog that shows the value of a key. Only its button closes it, because closing by mistake loses the value. */
export function ShownOnce(props: {
  title: string;
  of: CreatedKeyView;
  /** Description of what is lost where the page is left before. */
  lost: string;
  onDone: () => void;
  children?: ReactNode;
}) {
  const { of, onDone } = props;
  const [isSaved, setSaved] = useState(false);
  useUnsaved(!isSaved, props.lost);
  return (
    <Dialog title={props.title}>
      <Note kind="warning">
        <p>{of._service.note}</p>
      </Note>
      {props.children}
      <CopyValue label="Key value" value={of.key} isMain />
      <section className="use-key-now">
        <h3>Use this key</h3>
        <UseKey token={of.key} />
      </section>
      <div className="actions">
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
