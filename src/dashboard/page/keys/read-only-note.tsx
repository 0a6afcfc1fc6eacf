import { Note } from '../ui/note.tsx';

/** A note for a session whose key may not manage. */
export function ReadOnlyNote() {
  return (
    <Note kind="info">
      <p>
        The key that you signed in with may not manage (its <code>can_manage</code> is false): you see this
        key only, and can change nothing. Whoever gave it to you has a key that can.
      </p>
    </Note>
  );
}
