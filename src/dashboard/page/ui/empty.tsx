import type { ComponentChildren } from 'preact';

/** Stands where a table or chart would be, and says how it gets its content. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
