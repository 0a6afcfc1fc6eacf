import type { ReactNode } from 'react';
import { Note } from '../ui/note.tsx';
import { EntryFrame } from './entry-frame.tsx';

/** An entry that was opened, or reloaded, without the secret of its link. */
export function NoSecret({ title, children }: { title: string; children: ReactNode }) {
  return (
    <EntryFrame title={title}>
      <Note kind="warning">
        <p>This address has no code. {children}</p>
      </Note>
      <p>
        <a href="./">Go to the dashboard</a>
      </p>
    </EntryFrame>
  );
}
