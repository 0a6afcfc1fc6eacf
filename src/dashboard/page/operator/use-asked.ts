import { useState } from 'preact/hooks';
import { type Action, useAction } from '../api/use-action.ts';

/** An action with a confirmation. `run` reads the form and asks; `act` does what was asked about. */
export interface Asked<Task> extends Action<void> {
  /** The task that waits for confirmation; undefined: none. */
  readonly asked: Task | undefined;
  act(): Promise<void>;
  close(): void;
}

/** `read` throws the fault of the form; a failure of `act` is shown at the form, too. */
export function useAsked<Task>(read: () => Task, act: (task: Task) => Promise<unknown>): Asked<Task> {
  const [asked, setAsked] = useState<Task>();
  const doing = useAction(act);
  const reading = useAction(async () => {
    doing.forget();
    const task = read();
    setAsked(() => task);
  });
  return {
    asked,
    run: reading.run,
    isBusy: reading.isBusy || doing.isBusy,
    error: reading.error ?? doing.error,
    forget: () => {
      reading.forget();
      doing.forget();
    },
    act: async () => {
      if (asked !== undefined) await doing.run(asked);
    },
    close: () => setAsked(undefined),
  };
}
