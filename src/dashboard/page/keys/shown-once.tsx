import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { CreatedKeyView } from '../../../api/keys/key-view.ts';
import { Dialog } from '../ui/confirm.tsx';
import { CopyValue } from '../ui/copy.tsx';
import { Note } from '../ui/note.tsx';
import { Unsaved } from '../ui/unsaved.tsx';
import { UseKey } from '../use-key/use-key.tsx';

/** Dialog that shows the value of a key. Only its button closes it, because closing by mistake loses the value. */
export function ShownOnce({
  title,
  of,
  lost,
  onDone,
  children,
}: {
  title: string;
  of: CreatedKeyView;
  /** Words of the question if the page is left before. */
  lost: string;
  onDone: () => void;
  /** Shown between the note and the snippets. */
  children?: ReactNode;
}) {
  const [isSaved, setSaved] = useState(false);
  return (
    <Dialog title={title} size="lg">
      <div className="fields">
        <Note kind="warning">
          <p>{of._service.note}</p>
        </Note>
        <CopyValue label="Key value" value={of.key} isMain />
        {children}
        <section className="use-key-now">
          <h3>Use this key</h3>
          <UseKey value={of.key} />
        </section>
      </div>
      <div className="dialog-actions">
        <Button
          variant="default"
          onClick={() => {
            setSaved(true);
            onDone();
          }}
        >
          I have saved it
        </Button>
      </div>
      <Unsaved when={!isSaved} lost={lost} />
    </Dialog>
  );
}
