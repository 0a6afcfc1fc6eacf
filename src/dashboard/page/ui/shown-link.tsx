import { Button } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from './confirm.tsx';
import { CopyValue } from './copy.tsx';
import { Note } from './note.tsx';
import { Unsaved } from './unsaved.tsx';

/** Dialog that shows a link which works once. Only its button closes it, because closing by mistake loses the link. */
export function ShownLink({
  title,
  label,
  link,
  mailedTo,
  lost,
  onDone,
  children,
}: {
  title: string;
  /** Name of the link: "Invitation link". */
  label: string;
  link: string;
  /** Address to which the gateway sent it; undefined if it was not sent. */
  mailedTo?: string | undefined;
  /** Words of the question if the page is left before. */
  lost: string;
  onDone: () => void;
  /** How long it works, and for whom. */
  children: ReactNode;
}) {
  const [isSaved, setSaved] = useState(false);
  return (
    <Dialog title={title} size="lg">
      <div className="fields">
        <Note kind="warning">
          <p>The link is shown only now. {children}</p>
          <p>
            {mailedTo === undefined
              ? 'It was not mailed: send it to the person.'
              : `It was also mailed to ${mailedTo}.`}
          </p>
        </Note>
        <CopyValue label={label} value={link} isMain />
      </div>
      <div className="dialog-actions">
        <Button
          variant="default"
          onClick={() => {
            setSaved(true);
            onDone();
          }}
        >
          Done
        </Button>
      </div>
      <Unsaved when={!isSaved} lost={lost} />
    </Dialog>
  );
}
