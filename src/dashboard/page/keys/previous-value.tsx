import { useEffect, useRef, useState } from 'preact/hooks';
import type { KeyView } from '../../../api/views/key-view.ts';
import { ApiFailure } from '../api/request.ts';
import { endGrace, type KeysPath, readKeyOf } from '../api/rotation.ts';
import { durationWords } from '../format/duration.ts';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Time } from '../ui/elements.tsx';
import { useFallbackFocus } from '../ui/fallback-focus.ts';
import { useTimeLeft } from '../ui/time-left.ts';

/**
 * Line that counts down while the previous value is valid, with a button to end it where `path` is given.
 * Nothing is shown once it has ended.
 */
export function PreviousValue(props: {
  of: KeyView;
  /** Path of the key's list; absent where this session may not rotate. */
  path?: KeysPath | undefined;
  /** Called with the key once the value is ended by the user, or with nothing once its time is over. */
  onEnded: (key?: KeyView) => void;
}) {
  const { of: key, path } = props;
  const until = key.previous_valid_until;
  const left = useTimeLeft(until);
  const [isAsking, setAsking] = useState(false);
  const isCounting = useRef(false);
  const frame = useFallbackFocus();
  useEffect(() => {
    if (left > 0) isCounting.current = true;
    else if (isCounting.current) {
      isCounting.current = false;
      setAsking(false);
      // Null where somebody has ended the previous value by hand.
      if (until === null) return;
      announce(`The previous value of the key “${key.name}” has ended.`);
      props.onEnded();
    }
  }, [left, until]);
  if (until === null || left === 0) return null;
  const end = async () => {
    props.onEnded(path && (await ended(path, key)));
    announce(`The previous value of the key “${key.name}” is refused from now on.`);
  };
  return (
    <div class="previous-value" ref={frame}>
      The previous value is valid until <Time at={until} seconds /> (in {durationWords(left)}).{' '}
      {path && (
        <button
          type="button"
          class="link"
          aria-label={`End now: the previous value of ${key.name}`}
          onClick={() => setAsking(true)}
        >
          End now
        </button>
      )}
      {isAsking && (
        <Confirm
          title={`End the previous value of “${key.name}”?`}
          verb="End it now"
          danger
          act={end}
          onClose={() => setAsking(false)}
        >
          <p>
            Whoever still calls with it is refused from now on, at every gateway. The value that begins with{' '}
            <code>{key.prefix}</code> stays.
          </p>
        </Confirm>
      )}
    </div>
  );
}

/** Ends the previous value. Rejects where the key was rotated meanwhile, because another value would be ended then. */
async function ended(path: KeysPath, key: KeyView): Promise<KeyView> {
  try {
    return await endGrace(path, key);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
    const now = await readKeyOf(path, key.id);
    if (now.prefix === key.prefix) {
      return now.previous_valid_until === null ? now : ended(path, now);
    }
    throw new ApiFailure(
      412,
      error.code,
      `The key was rotated meanwhile: its value begins with ${now.prefix} now. Load this page again to see it.`,
    );
  }
}
