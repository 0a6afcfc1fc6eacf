import type { ReactNode } from 'react';
import { useEffect, useRef } from 'react';
import type { Loaded } from '../api/use-load.ts';
import { choose, query } from '../route.ts';
import { isBroughtBack } from '../scroll-place.ts';

/** Name of the parameter with the cursors of all pages up to the shown one; the first page has no cursor. */
const PAGES = 'pages';

/** Choice that must be made together with a filter, so that a filtered list begins at its first page. */
export const FIRST_PAGE = { [PAGES]: '' } as const;

/** Cursors of all pages up to the shown one, from the address. */
export function cursors(): readonly string[] {
  return query.value.get(PAGES)?.split(',') ?? [];
}

/**
 * A page of a list, with buttons to the pages before and after it. When another page's rows are there, its top is
 * scrolled into view and its table gets the focus.
 */
export function Paged(props: {
  label: string;
  back: string;
  on: string;
  /** Cursor of the page after the shown one; null on the last page. */
  next: string | null;
  of: Pick<Loaded<unknown>, 'isLoading' | 'subject'>;
  children: ReactNode;
}) {
  const { next } = props;
  const { isLoading, subject } = props.of;
  const frame = useRef<HTMLDivElement>(null);
  const isTurned = useRef(false);
  useEffect(() => {
    // Named only so that the effect runs when the rows belong to another subject.
    void subject;
    if (isTurned.current) {
      frame.current?.querySelector<HTMLElement>('.table-frame')?.focus({ preventScroll: true });
      frame.current?.scrollIntoView();
    } else isBroughtBack();
    isTurned.current = false;
  }, [subject]);
  const before = cursors();
  const turn = (pages: readonly string[]) => {
    isTurned.current = true;
    choose({ [PAGES]: pages.join(',') });
  };
  return (
    <div ref={frame} className="paged" aria-busy={isLoading}>
      {props.children}
      {(before.length > 0 || next !== null) && (
        <nav className="pager" aria-label={props.label}>
          <button
            type="button"
            disabled={before.length === 0 || isLoading}
            onClick={() => turn(before.slice(0, -1))}
          >
            ← {props.back}
          </button>
          <span className="hint" role="status">
            Page {before.length + 1}
          </span>
          <button
            type="button"
            disabled={next === null || isLoading}
            onClick={() => next !== null && turn([...before, next])}
          >
            {props.on} →
          </button>
        </nav>
      )}
    </div>
  );
}
