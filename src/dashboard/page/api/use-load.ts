import { useCallback, useEffect, useRef, useState } from 'react';

/** Data of a page while and after it is loaded: at first nothing, then the data or the error. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Subject for which the data was loaded; undefined until there is data. */
  readonly subject: string | undefined;
  /** Loads again. The old data stays until the new data is there. */
  reload(): void;
  /** Replaces the data, as after a change whose answer was the new state. */
  replace(data: Data): void;
}

interface State<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly subject: string | undefined;
}

/**
 * Loads data when the component appears and whenever `subject` changes. An answer is dropped if it comes after a later
 * request, or after the component has gone.
 */
export function useLoad<Data>(load: (signal: AbortSignal) => Promise<Data>, subject = ''): Loaded<Data> {
  const [state, setState] = useState<State<Data>>({
    data: undefined,
    error: undefined,
    isLoading: true,
    subject: undefined,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const question = new AbortController();
    // Named only so that a change of `round` or `subject` runs this effect again.
    void [round, subject];
    setState((before) => ({ ...before, error: undefined, isLoading: true }));
    latest.current(question.signal).then(
      (data) => question.signal.aborted || setState({ data, error: undefined, isLoading: false, subject }),
      (error: unknown) =>
        question.signal.aborted || setState((before) => ({ ...before, error, isLoading: false })),
    );
    return () => question.abort();
  }, [round, subject]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const replace = useCallback(
    (data: Data) => setState((before) => ({ ...before, data, error: undefined, isLoading: false })),
    [],
  );
  return { ...state, reload, replace };
}
