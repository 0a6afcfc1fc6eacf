import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { wordsOf } from '../data/failure-words.ts';

const SIGNS = { info: 'i', warning: '!', danger: '!', good: '✓' } as const;

/** Note on the page. One of kind `danger` is read out at once, and can take the focus. */
export function Note({ kind, children }: { kind: keyof typeof SIGNS; children: ReactNode }) {
  return (
    <div className={`note note-${kind}`} {...(kind === 'danger' ? { role: 'alert', tabIndex: -1 } : {})}>
      <span className="note-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <div>{children}</div>
    </div>
  );
}

/** Note with the reason of a failure, and a button to try again if `retry` is given; nothing without an error. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined || error === null) return null;
  return (
    <Note kind="danger">
      <p>{wordsOf(error)}</p>
      {retry && (
        <Button size="xs" variant="default" onClick={retry}>
          Try again
        </Button>
      )}
    </Note>
  );
}
