import { useState } from 'preact/hooks';
import { type Action, useAction } from '../api/use-action.ts';

/** An action with a confirmation: `run` reads the form and asks, and `act` carries the task out. */
export interface Asked<Task> extends Action<void> {
  /** The task that waits for confirmation; undefined where there is none. */
  readonly asked: Task | undefined;
  act(): Promise<void>;
  close(): void;
}

/** Makes an action with a confirmation. `read` throws the form's fault; a failure of `act` is shown at the form too. */
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
