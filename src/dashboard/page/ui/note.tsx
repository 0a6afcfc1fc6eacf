import type { ComponentChildren } from 'preact';
import { wordsOf } from '../api/failure.ts';

const SIGNS = { info: 'i', warning: '!', danger: '!', good: '✓' } as const;

/** A box that says something about the page; `danger` is read out at once, and can be gone to. */
export function Note({ kind, children }: { kind: keyof typeof SIGNS; children: ComponentChildren }) {
  return (
    <div class={`note note-${kind}`} {...(kind === 'danger' ? { role: 'alert', tabIndex: -1 } : {})}>
      <span class="note-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <div>{children}</div>
    </div>
  );
}

/** What went wrong, and the way to try again where there is one. */
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
