import type { RotatedKeyView } from '../../../api/keys/key-view.ts';
import { Time } from '../ui/elements.tsx';
import { ShownOnce } from './created-key.tsx';

const LOST =
  'The new value of the key is shown this once. Whoever has not saved it has to rotate the key once more.';

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
          'The previous value is refused from now on.'
        ) : (
          <>
            The previous value is valid until <Time at={until} seconds />.
          </>
        )}
        {isOwn && ' You are signed in with the new value from now on.'}
      </p>
    </ShownOnce>
  );
}
