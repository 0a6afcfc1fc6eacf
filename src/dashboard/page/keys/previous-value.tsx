import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { durationWords, msUntilOtherWords } from '../format/duration.ts';
import { announce } from '../ui/announce.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Time } from '../ui/elements.tsx';
import { type KeyApi, useKeyApi } from './key-api.ts';

/** Waits between two readings of a key whose countdown is over: each is twice the one before, up to the longest. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

/**
 * Line that counts down while the previous value is valid, with a button to end it if `canEnd`. It ends by the gateway's
 * clock: once the countdown is over, the line stays, and the key is read again until its field is null.
 */
export function PreviousValue({ of: key, canEnd }: { of: KeyView; canEnd: boolean }) {
  const client = useQueryClient();
  const api = useKeyApi(key.id);
  const until = key.previous_valid_until;
  const left = useTimeLeft(until);
  const [isAsking, setAsking] = useState(false);
  /** True from the end of the countdown until the value has ended. */
  const isAwaited = useRef(false);
  const isOver = until !== null && left === 0;
  useEffect(() => {
    if (!isOver) return undefined;
    let wait = FIRST_WAIT_MS;
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      void client.invalidateQueries();
      timer = setTimeout(look, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT_MS);
    };
    look();
    return () => clearTimeout(timer);
  }, [isOver, client]);
  useEffect(() => {
    const wasAwaited = isAwaited.current;
    isAwaited.current = isOver;
    if (until !== null) return;
    setAsking(false);
    if (wasAwaited) announce(`The previous value of key “${key.name}” has expired.`);
  }, [until, isOver, key.name]);
  if (until === null) return null;
  const end = async () => {
    await ended(api, key);
    // It was ended by hand, and not by time, which would be announced as well.
    isAwaited.current = false;
    announce(`The previous value of key “${key.name}” is no longer valid.`);
  };
  return (
    <p>
      The previous value is valid until <Time at={until} seconds /> (
      {isOver ? 'any moment now' : `in ${durationWords(left)}`}).{' '}
      {canEnd && (
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
    </p>
  );
}

/** Ends the previous value. Rejects if the key was rotated meanwhile, because another value would be ended then. */
async function ended(api: KeyApi, key: KeyView): Promise<void> {
  try {
    await api.endGrace(key);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== 'version_conflict') throw error;
    const now = await api.read();
    if (now.prefix !== key.prefix) {
      const words = `The key was rotated in the meantime and its value now begins with ${now.prefix}. Reload this page.`;
      throw new ApiFailure(412, error.code, words);
    }
    if (now.previous_valid_until !== null) await ended(api, now);
  }
}

/** Milliseconds until a time, by the browser's clock; 0 once it has passed. Draws again as the words for it change. */
function useTimeLeft(until: string | null): number {
  const [, redraw] = useState(0);
  const left = until === null ? 0 : Math.max(0, Date.parse(until) - Date.now());
  useEffect(() => {
    if (left === 0) return undefined;
    // One more millisecond, because timers may fire early by less than that.
    const timer = setTimeout(() => redraw((count) => count + 1), msUntilOtherWords(left) + 1);
    return () => clearTimeout(timer);
  });
  return left;
}
