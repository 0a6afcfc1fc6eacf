import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

/** Data of a page: first nothing, then the data or the error. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** The subject that the data was loaded for; undefined: there is no data yet. */
  readonly subject: string | undefined;
  /** Loads again; the old data stays until the new data is there. */
  reload(): void;
  /** Replaces the data by an answer that brought the new state with it. */
  replace(data: Data): void;
}

interface State<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly subject: string | undefined;
}

/**
 * Loads when the component appears and whenever `subject` changes. An answer that is overtaken by a later question, or
 * that comes after the component went, is dropped.
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
    // Dependencies only: a change of `round` or `subject` loads again.
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
