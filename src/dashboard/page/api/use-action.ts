import { useCallback, useRef, useState } from 'react';

/** An asynchronous action that the user starts. */
export interface Action<Input> {
  /** Runs the action; resolves with true if it succeeded. Does nothing while a run is under way. */
  run(input: Input): Promise<boolean>;
  readonly isBusy: boolean;
  /** Error of the last run; undefined if it succeeded. */
  readonly error: unknown;
  forget(): void;
}

export function useAction<Input = void>(act: (input: Input) => Promise<unknown>): Action<Input> {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const latest = useRef(act);
  latest.current = act;
  const isRunning = useRef(false);
  const run = useCallback(async (input: Input) => {
    if (isRunning.current) return false;
    isRunning.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await latest.current(input);
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    } finally {
      isRunning.current = false;
      setBusy(false);
    }
  }, []);
  const forget = useCallback(() => setError(undefined), []);
  return { run, isBusy, error, forget };
}
