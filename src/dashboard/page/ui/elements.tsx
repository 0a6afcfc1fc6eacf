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

/** How much of the whole, as a bar; the text beside it says it in numbers. `full` marks one that has come to its end. */
export function Bar({ part, full = false }: { part: number; full?: boolean }) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <span class={full ? 'bar bar-full' : 'bar'} aria-hidden="true">
      {percent > 0 && <span style={{ width: `${percent}%` }} />}
    </span>
  );
}

/** An e-mail address that breaks before its @, if it must. */
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

/** A moment in the zone that is chosen; the other one on demand. */
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

/** Stands where a table or chart would be, and says how it gets its content. */
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
