import { useState } from 'preact/hooks';
import { type Action, useAction } from '../api/use-action.ts';

/** An action that is asked about before it is done. `run` reads what is to be done and asks; `act` does it. */
export interface Asked<Task> extends Action<void> {
  /** What is asked about; undefined: nothing is. */
  readonly asked: Task | undefined;
  act(): Promise<void>;
  close(): void;
}

/** `read` throws what is wrong with the form; what goes wrong in doing it is shown at the form, too. */
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
