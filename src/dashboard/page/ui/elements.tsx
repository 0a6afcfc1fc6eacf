import type { ComponentChildren } from 'preact';
import { moment, zone } from '../format/time.ts';

export function Badge({
  kind,
  children,
}: {
  kind: 'good' | 'bad' | 'warning' | 'plain';
  children: ComponentChildren;
}) {
  return <span class={`badge badge-${kind}`}>{children}</span>;
}

/** A bar for a part of a whole (0–1); the text beside it gives the numbers. `full`: the limit is reached. */
export function Bar({ part, full = false }: { part: number; full?: boolean }) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <span class={full ? 'bar bar-full' : 'bar'} aria-hidden="true">
      {percent > 0 && <span style={{ width: `${percent}%` }} />}
    </span>
  );
}

/** An e-mail address that may wrap before its @. */
export function Email({ address }: { address: string }) {
  const at = address.lastIndexOf('@');
  return (
    <>
      {address.slice(0, at)}
      <wbr />
      {address.slice(at)}
    </>
  );
}

/** A moment in the time zone that is chosen; the tooltip gives the other zone. */
export function Time({ at, seconds = false }: { at: string; seconds?: boolean }) {
  const here = zone.value;
  const other = here === 'utc' ? moment(at, 'local', true) : `${moment(at, 'utc', true)} UTC`;
  return (
    <time dateTime={at} title={other}>
      {moment(at, here, seconds)}
      {here === 'utc' && ' UTC'}
    </time>
  );
}

/** Placeholder for a table or chart that has no content yet; says how it gets some. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** A titled part of a page. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
