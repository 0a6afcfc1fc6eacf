import { Button } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { useChoices } from './choices.ts';

/** Choice that must be made together with a filter, so that a filtered list begins at its first page. */
export const FIRST_PAGE = { pages: '' } as const;

/** Cursor of the shown page of a list, from the address; "" is the first page. */
export function useCursor(): string {
  return useChoices().choices.pages?.split(',').at(-1) ?? '';
}

/** A page of a list, with buttons to the pages before and after it; newest first unless `words` say otherwise. */
export function Paged({
  label,
  words = ['Newer', 'Older'],
  next,
  isLoading,
  children,
}: {
  label: string;
  words?: readonly [back: string, on: string];
  /** Cursor of the page after the shown one; null on the last page. */
  next: string | null;
  isLoading: boolean;
  children: ReactNode;
}) {
  const { choices, choose } = useChoices();
  const before = choices.pages?.split(',') ?? [];
  const place = useRef<HTMLDivElement>(null);
  const isTurned = useRef(false);
  // Another page begins at the top of its table, with the focus there.
  useEffect(() => {
    if (!isTurned.current || isLoading) return;
    isTurned.current = false;
    const table = place.current?.querySelector<HTMLElement>('.table-frame');
    table?.focus({ preventScroll: true });
    table?.scrollIntoView();
  }, [choices.pages, isLoading]);
  const turn = (pages: readonly string[]) => {
    isTurned.current = true;
    choose({ pages: pages.join(',') });
  };
  return (
    <div aria-busy={isLoading} ref={place}>
      {children}
      {(before.length > 0 || next !== null) && (
        <nav className="pager" aria-label={label}>
          <Button
            variant="default"
            disabled={before.length === 0 || isLoading}
            onClick={() => turn(before.slice(0, -1))}
          >
            ← {words[0]}
          </Button>
          <span className="hint" role="status">
            Page {before.length + 1}
          </span>
          <Button
            variant="default"
            disabled={next === null || isLoading}
            onClick={() => next !== null && turn([...before, next])}
          >
            {words[1]} →
          </Button>
        </nav>
      )}
    </div>
  );
}
