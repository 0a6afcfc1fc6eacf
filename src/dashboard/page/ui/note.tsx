import type { ReactNode } from 'react';
import { wordsOf } from '../api/failure.ts';

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

/** Note with the reason of a failure, and a button to try again where `retry` is given. */
export function FailureNote({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined) return null;
  return (
    <Note kind="danger">
      <p>{wordsOf(error)}</p>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </Note>
  );
}
