import { useState } from 'react';
import { type Action, useAction } from '../api/use-action.ts';

/** An action with a confirmation: `run` reads the form and asks, and `act` carries the task out. */
export interface Confirmed<Task> extends Action<void> {
  /** The task that waits for confirmation; undefined if there is none. */
  readonly pending: Task | undefined;
  act(): Promise<void>;
  close(): void;
}

/** Makes an action with a confirmation. `read` throws the form's fault; a failure of `act` is shown at the form too. */
export function useConfirmed<Task>(read: () => Task, act: (task: Task) => Promise<unknown>): Confirmed<Task> {
  const [pending, setPending] = useState<Task>();
  const doing = useAction(act);
  const reading = useAction(async () => {
    doing.forget();
    const task = read();
    setPending(() => task);
  });
  return {
    pending,
    run: reading.run,
    isBusy: reading.isBusy || doing.isBusy,
    error: reading.error ?? doing.error,
    forget: () => {
      reading.forget();
      doing.forget();
    },
    act: async () => {
      if (pending !== undefined) await doing.run(pending);
    },
    close: () => setPending(undefined),
  };
}
