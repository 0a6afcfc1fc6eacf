import type { ComponentChildren } from 'preact';

export function Badge({
  kind,
  children,
}: {
  kind: 'good' | 'bad' | 'warning' | 'plain';
  children: ComponentChildren;
}) {
  return <span class={`badge badge-${kind}`}>{children}</span>;
}
