import { Note } from '../ui/note.tsx';

/** For a session whose key may not manage. */
export function ReadOnlyNote() {
  return (
    <Note kind="info">
      <p>
        You see everything here and can change nothing: the key that you signed in with may not manage (its{' '}
        <code>can_manage</code> is false). Sign in with another key to make changes.
      </p>
    </Note>
  );
}
