import type { RotatedKeyView } from '../../../api/keys/key-view.ts';
import { Time } from '../ui/elements.tsx';
import { ShownOnce } from './created-key.tsx';

const LOST = 'The new value is shown only once. If you do not save it now, you have to rotate the key again.';

/** Dialog that shows the new value of a key, once. */
export function RotatedKey({
  of,
  isOwn,
  onDone,
}: {
  of: RotatedKeyView;
  isOwn: boolean;
  onDone: () => void;
}) {
  const until = of.previous_valid_until;
  return (
    <ShownOnce title={`The new value of “${of.name}”`} of={of} lost={LOST} onDone={onDone}>
      <p>
        {until === null ? (
          'The previous value is no longer valid.'
        ) : (
          <>
            The previous value is valid until <Time at={until} seconds />.
          </>
        )}
        {isOwn && ' You are now signed in with the new value.'}
      </p>
    </ShownOnce>
  );
}
