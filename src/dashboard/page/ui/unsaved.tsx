import { Button } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Choices } from './choices.ts';
import { Dialog } from './confirm.tsx';

const EDITS = 'Your changes on this page are not saved.';

/** Why the session ended, while the page waits for the answer to the question below. */
let endReason = '';

/** Sets why the page is being left; "" if the user chose to. */
export function leaveBecause(reason: string): void {
  endReason = reason;
}

/** Ask whether unsaved work may be lost, one for each part of the page that has some. */
const questions = new Set<() => Promise<boolean>>();

/** Resolves with true if no work on the page is unsaved, or the user agrees to lose it. */
export async function mayLeave(): Promise<boolean> {
  for (const ask of questions) if (!(await ask())) return false;
  return true;
}

/**
 * Asks, while `when` is true, before another page is shown or this one is closed: by a link, Back and Forward, reload,
 * signing out and the end of the session. Another time zone asks too, because it begins the page again. After a save,
 * navigate with `ignoreBlocker`. `choice` is that of the address which opens the edit: another value of it asks too.
 */
export function Unsaved({ when, lost = EDITS, choice }: { when: boolean; lost?: string; choice?: string }) {
  const [answer, setAnswer] = useState<(isLeft: boolean) => void>();
  useEffect(() => {
    if (!when) return;
    const ask = () => new Promise<boolean>((resolve) => setAnswer(() => resolve));
    questions.add(ask);
    return () => void questions.delete(ask);
  }, [when]);
  const { status, current, next, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) =>
      when &&
      (current.pathname !== next.pathname ||
        zoneIn(current) !== zoneIn(next) ||
        chosenIn(current, choice) !== chosenIn(next, choice)),
    enableBeforeUnload: when,
    withResolver: true,
  });
  if (status !== 'blocked' && answer === undefined) return null;
  const end = (isLeft: boolean) => {
    answer?.(isLeft);
    setAnswer(undefined);
  };
  const stay = () => {
    endReason = '';
    end(false);
    reset?.();
  };
  const leave = () => {
    end(true);
    proceed?.();
  };
  const [title, verb] = questionOf(status === 'blocked' && current.pathname === next.pathname);
  return (
    <Dialog title={title} onCancel={stay}>
      {endReason !== '' && <p>{endReason}</p>}
      <p>{lost}</p>
      <div className="dialog-actions">
        <Button variant="default" onClick={stay}>
          Stay on this page
        </Button>
        <Button color="red" onClick={leave}>
          {verb}
        </Button>
      </div>
    </Dialog>
  );
}

/** Title of the question, and label of the button that loses the work. */
function questionOf(isSamePage: boolean): readonly [title: string, verb: string] {
  if (endReason !== '') return ['You have been signed out', 'Leave and sign in'];
  return isSamePage ? ['Discard your changes?', 'Discard'] : ['Leave this page?', 'Leave'];
}

function zoneIn({ search }: { search: unknown }): string {
  return (search as Choices).times ?? 'local';
}

function chosenIn({ search }: { search: unknown }, choice: string | undefined): string | undefined {
  return choice && (search as Choices)[choice];
}
