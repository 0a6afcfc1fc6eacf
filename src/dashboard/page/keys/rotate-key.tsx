import { useState } from 'react';
import type { KeyView, RotatedKeyView } from '../../../api/keys/key-view.ts';
import { RotateDialog } from './rotate-dialog.tsx';

/** Button that gives a key a new value, after a question. */
export function RotateKey({
  of: key,
  onRotated,
}: {
  of: KeyView;
  onRotated: (answer: RotatedKeyView) => void;
}) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        Rotate
      </button>
      {isAsking && (
        <RotateDialog of={key} path="/api/keys/" onRotated={onRotated} onClose={() => setAsking(false)} />
      )}
    </>
  );
}
