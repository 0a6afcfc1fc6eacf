import type { ComponentChildren } from 'preact';

/** A table that scrolls by itself where the screen is too narrow; so the keyboard must be able to get there. */
export function Table({ label, children }: { label: string; children: ComponentChildren }) {
  const frame = { class: 'table-frame', role: 'region', tabIndex: 0, 'aria-label': label } as const;
  return (
    <div {...frame}>
      <table>{children}</table>
    </div>
  );
}
