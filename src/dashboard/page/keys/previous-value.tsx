import { useEffect, useRef, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { endGrace, type KeysPath, readKeyOf } from '../api/rotation.ts';
import { durationWords } from '../format/duration.ts';
import { moment, zone } from '../format/time.ts';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Badge, Time } from '../ui/elements.tsx';
import { useFallbackFocus } from '../ui/fallback-focus.ts';
import { useTimeLeft } from '../ui/time-left.ts';

/** Waits between two readings of a key whose countdown is over: each is twice the one before, up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Line that counts down while the previous value is valid, with a button to end it where `path` is given. It ends by
 * the gateway's clock: once the countdown is over, the line stays, and the key is read again, until its field is null.
 */
export function PreviousValue(props: {
  of: KeyView;
  /** Path of the key's list; absent where this session may not rotate. */
  path?: KeysPath | undefined;
  /** True in a row of a table, where the line is a badge with the whole time as its tooltip. */
  isBrief?: boolean;
  /** Called with the key once the value is ended by the user, or with nothing where the key is to be read again. */
  onEnded: (key?: KeyView) => void;
}) {
  const { of: key, path, isBrief = false } = props;
  const until = key.previous_valid_until;
  const left = useTimeLeft(until);
  const [isAsking, setAsking] = useState(false);
  /** True from the end of the countdown until the value has ended. */
  const isAwaited = useRef(false);
  const isOver = until !== null && left === 0;
  const frame = useFallbackFocus();
  useEffect(() => {
    if (!isOver) return undefined;
    let wait = FIRST_WAIT_MS;
    let timer = 0;
    const look = () => {
      props.onEnded();
      timer = setTimeout(look, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    };
    look();
    return () => clearTimeout(timer);
  }, [isOver]);
  useEffect(() => {
    const wasAwaited = isAwaited.current;
    isAwaited.current = isOver;
    if (until !== null) return;
    setAsking(false);
    if (wasAwaited) announce(`The previous value of key “${key.name}” has expired.`);
  }, [until, isOver]);
  if (until === null) return null;
  const end = async () => {
    const changed = path && (await ended(path, key));
    // It was ended by hand, and not by time, which would be announced as well.
    isAwaited.current = false;
    props.onEnded(changed);
    announce(`The previous value of key “${key.name}” is no longer valid.`);
  };
  return (
    <div className={isBrief ? 'previous-value-brief' : 'previous-value'} ref={frame}>
      {isBrief ? (
        <Badge kind="warning" title={`The previous value is valid until ${moment(until, zone.value, true)}.`}>
          2 values{isOver ? '' : ` for ${durationWords(left)}`}
        </Badge>
      ) : (
        <>
          The previous value is valid until <Time at={until} seconds /> (
          {isOver ? 'any moment now' : `in ${durationWords(left)}`}).
        </>
      )}{' '}
      {path && (
        <button
          type="button"
          className="link"
          aria-label={`End now: previous value of ${key.name}`}
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
            Calls with the previous value are refused at every gateway. The value that begins with{' '}
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
      `The key was rotated in the meantime and its value now begins with ${now.prefix}. Reload this page.`,
    );
  }
}
