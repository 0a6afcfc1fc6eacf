import { timestamp } from '../../domain/period.ts';
import { type AttentionItemView, MOST_ITEMS } from './attention-view.ts';

/** An item before its times are written out: milliseconds since the epoch, or a timestamp. */
export interface Draft {
  readonly since?: number | null;
  readonly count?: number;
  readonly subject: AttentionItemView['subject'];
  readonly code?: string | null;
  readonly until?: number | string | null;
  readonly message: string;
}

/** Drafts of each kind, from facts: a row a kind. */
export type Kinds<Kind extends string, Facts> = Readonly<Record<Kind, (facts: Facts) => readonly Draft[]>>;

/**
 * The items of the facts, in the order of the kinds, and the number of all. A long kind is cut, so that a hundred dry
 * accounts hide nothing else.
 */
export function attentionOf<Kind extends string, Facts>(
  order: readonly Kind[],
  kinds: Kinds<Kind, Facts>,
  facts: Facts,
) {
  const drafts = order.map((kind) => ({ kind, of: kinds[kind](facts) }));
  const shown = (most: number) => drafts.reduce((sum, { of }) => sum + Math.min(of.length, most), 0);
  let most = MOST_ITEMS;
  while (shown(most) > MOST_ITEMS) most -= 1;
  const items = drafts.flatMap(({ kind, of }) =>
    of.slice(0, most).map((draft, at) => {
      const { since = null, count = null, subject, code = null, until = null, message } = draft;
      const more = at === most - 1 ? of.length - most : 0;
      return {
        kind,
        since: since === null ? null : timestamp(since),
        count,
        subject,
        code,
        until: typeof until === 'number' ? timestamp(until) : until,
        more,
        message: more === 0 ? message : `${message} And ${more} more of this kind.`,
      };
    }),
  );
  return { items, total: shown(Number.POSITIVE_INFINITY) };
}

/** `1 call`, `2 calls`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}

/** `1.2 days`, `5 hours`. */
export function durationOf(days: number): string {
  const hours = Math.round(days * 24);
  return hours < 24 ? counted(hours, 'hour') : `${Math.round(days * 10) / 10} days`;
}

export function quoted(name: string): string {
  return `“${name}”`;
}
