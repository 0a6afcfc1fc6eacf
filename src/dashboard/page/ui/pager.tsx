/** The cursors of the pages up to the one that is shown; the first page has none. */
export type Cursors = readonly (string | null)[];
export const FIRST_PAGE: Cursors = [null];

/** The way from page to page of a list that is read by cursors. */
export function Pager(props: {
  label: string;
  back: string;
  on: string;
  cursors: Cursors;
  onCursors: (cursors: Cursors) => void;
  /** Of the page after the one that is shown; null: it is the last. */
  next: string | null;
  isBusy: boolean;
}) {
  const { cursors, onCursors, next, isBusy } = props;
  return (
    <nav class="pager" aria-label={props.label}>
      <button
        type="button"
        disabled={cursors.length === 1 || isBusy}
        onClick={() => onCursors(cursors.slice(0, -1))}
      >
        ← {props.back}
      </button>
      <span class="hint" role="status">
        Page {cursors.length}
      </span>
      <button type="button" disabled={next === null || isBusy} onClick={() => onCursors([...cursors, next])}>
        {props.on} →
      </button>
    </nav>
  );
}
