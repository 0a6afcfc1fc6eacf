import type { ReactNode } from 'react';
import { moment, zone } from '../format/time.ts';

export function Badge({
  kind,
  title,
  children,
}: {
  kind: 'good' | 'bad' | 'warning' | 'plain';
  /** Explanation, as a tooltip. */
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={`badge badge-${kind}`} title={title}>
      {children}
    </span>
  );
}

/** Bar for a part (0 to 1) of a whole; the text beside it gives the numbers. `full` marks a limit that is reached. */
export function Bar({ part, full = false }: { part: number; full?: boolean }) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <span className={full ? 'bar bar-full' : 'bar'} aria-hidden="true">
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

/**
 * A time in the zone that the user chose; the tooltip has it in the other zone. `brief`, for tables, leaves out the
 * year where it is the current one.
 */
export function Time({
  at,
  seconds = false,
  brief = false,
}: {
  at: string;
  seconds?: boolean;
  brief?: boolean;
}) {
  const here = zone.value;
  const other = here === 'utc' ? moment(at, 'local', true) : `${moment(at, 'utc', true)} UTC`;
  const whole = moment(at, here, seconds);
  return (
    <time dateTime={at} title={other}>
      {brief ? whole.replace(` ${new Date().getFullYear()}`, '') : whole}
      {here === 'utc' && ' UTC'}
    </time>
  );
}

/** A time in `words` that are relative to now; the tooltip has the time itself in the zone that the user chose. */
export function Ago({ at, words }: { at: string; words: string }) {
  const here = zone.value;
  return (
    <time dateTime={at} title={`${moment(at, here, true)}${here === 'utc' ? ' UTC' : ''}`}>
      {words}
    </time>
  );
}

/** Placeholder for a table or chart without content, which says how it gets some. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

/** A titled part of a page. */
export function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
