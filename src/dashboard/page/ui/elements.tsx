import { Badge as MantineBadge, Progress } from '@mantine/core';
import type { ReactNode } from 'react';
import { moment } from '../format/time.ts';
import { useZone } from '../format/zone.ts';

const COLORS = { good: 'green', bad: 'red', warning: 'yellow', plain: 'gray' } as const;

/** A short status. Never the only place of what it says: the text is the status. */
export function Badge({ kind, children }: { kind: keyof typeof COLORS; children: ReactNode }) {
  return (
    <MantineBadge color={COLORS[kind]} variant={kind === 'plain' ? 'outline' : 'light'} tt="none" radius="xl">
      {children}
    </MantineBadge>
  );
}

/** Bar for a part (0 to 1) of a whole; the text beside it has the numbers. `full` marks a limit that is reached. */
export function Bar({ part, full = false }: { part: number; full?: boolean }) {
  const percent = Math.min(100, Math.max(0, part * 100));
  return (
    <Progress value={percent} color={full ? 'red' : 'blue'} size="sm" aria-hidden="true" className="bar" />
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
 * A time in the zone that the reader chose; the tooltip has it in the other zone. `brief`, for tables, leaves out the
 * year if it is the current one.
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
  const here = useZone();
  const other = here === 'utc' ? moment(at, 'local', true) : `${moment(at, 'utc', true)} UTC`;
  const whole = moment(at, here, seconds);
  return (
    <time dateTime={at} title={other}>
      {brief ? whole.replace(` ${new Date().getFullYear()}`, '') : whole}
      {here === 'utc' && ' UTC'}
    </time>
  );
}

/** A time in `words` that are relative to now; the tooltip has the time itself. */
export function Ago({ at, words }: { at: string; words: string }) {
  const here = useZone();
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

/** A titled part of a page, with actions beside its title. */
export function Card({
  title,
  actions,
  children,
}: {
  title: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <section className="card">
      <div className="card-head">
        <h2>{title}</h2>
        {actions && <div className="actions">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

/** Figures side by side, each with its name and a note below. */
export function Figures({ children }: { children: ReactNode }) {
  return <dl className="figures">{children}</dl>;
}

export function Figure({
  name,
  note,
  isLow = false,
  children,
}: {
  name: string;
  note?: ReactNode;
  isLow?: boolean;
  children: ReactNode;
}) {
  return (
    <div className={isLow ? 'figure figure-low' : 'figure'}>
      <dt>{name}</dt>
      <dd className="figure-value">{children}</dd>
      {note && <dd className="figure-note">{note}</dd>}
    </div>
  );
}

/** Facts in two columns: name and value. */
export function Facts({ children }: { children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
