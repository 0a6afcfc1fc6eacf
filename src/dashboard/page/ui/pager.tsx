import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Loaded } from '../api/use-load.ts';
import { choose, query } from '../route.ts';
import { isBroughtBack } from '../scroll-place.ts';

/** Parameter in the address: the cursors of the pages up to the one that is shown; the first page has none. */
const PAGES = 'pages';

/** To be set together with a filter: a filtered list begins at its first page. */
export const FIRST_PAGE = { [PAGES]: '' } as const;

export function cursors(): readonly string[] {
  return query.value.get(PAGES)?.split(',') ?? [];
}

/**
 * A page of a list, and the way to the others where there are any. Another page begins at its top once its rows are
 * there, with the focus at its table.
 */
export function Paged(props: {
  label: string;
  back: string;
  on: string;
  /** Cursor of the page after the one that is shown; null: it is the last. */
  next: string | null;
  of: Pick<Loaded<unknown>, 'isLoading' | 'subject'>;
  children: ComponentChildren;
}) {
  const { next } = props;
  const { isLoading, subject } = props.of;
  const frame = useRef<HTMLDivElement>(null);
  const isTurned = useRef(false);
  useEffect(() => {
    // The rows that are shown belong to another subject than before.
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
    <div ref={frame} aria-busy={isLoading}>
      {props.children}
      {(before.length > 0 || next !== null) && (
        <nav class="pager" aria-label={props.label}>
          <button
            type="button"
            disabled={before.length === 0 || isLoading}
            onClick={() => turn(before.slice(0, -1))}
          >
            ← {props.back}
          </button>
          <span class="hint" role="status">
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
