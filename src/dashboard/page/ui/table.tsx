import { Checkbox } from '@mantine/core';
import { type MouseEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import { csvLine } from '../../../domain/csv.ts';
import { announce } from './announce.tsx';
import { useChoices } from './choices.ts';
import { Empty } from './elements.tsx';
import { FIRST_PAGE } from './pager.tsx';

/** A column of a table: everything about it, in one place. */
export interface Column<Row> {
  readonly id: string;
  readonly title: string;
  cell(row: Row): ReactNode;
  /** `number` is at the right, with digits of one width. Default: text. */
  readonly kind?: 'text' | 'number';
  /**
   * On a phone, where each row is a card: `figure` is at the right of its first line; `hidden` is left out. Default: a
   * line with the column's title.
   */
  readonly phone?: 'figure' | 'hidden';
  /** Left out at widths below 1,440 (`widest`) or 900 pixels (`wide`). */
  readonly from?: 'wide' | 'widest';
  /** Value to sort by; the column can be sorted if it is given. Numbers begin with the largest. */
  readonly sort?: (row: Row) => number | string;
  /** Text of the cell in a file; the column is left out of files if it is absent. */
  readonly csv?: (row: Row) => string;
}

/**
 * A table of rows. The first column names the row and should be a link, or is a button if `onOpen` is given, which a
 * click anywhere in the row presses. The table scrolls by itself if the screen is too narrow; on phones each row of more
 * than three columns is a card. Sorting is in the address as `sort=spend` or, from the largest down, `sort=-spend`.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  rowName,
  onOpen,
  initialSort = '',
  serverSort = false,
  selection,
  found,
  empty,
  total,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** Name of a row for its button and its tick. */
  rowName?: (row: Row) => string;
  onOpen?: (row: Row) => void;
  /** Sorting while the address has none. */
  initialSort?: string;
  /** True if the rows come sorted from the gateway by `sort` of the address. */
  serverSort?: boolean;
  selection?: {
    readonly chosen: ReadonlySet<string | number>;
    toggle(row: Row): void;
    /** False for a row that can't be selected. */
    can?(row: Row): boolean;
  };
  /** What the filters found, which is announced when it changes: `3 of 31 keys`. */
  found?: string;
  empty?: ReactNode;
  /** Sums over the rows, which stay below them. */
  total?: Row;
}) {
  const { choices, choose } = useChoices();
  const asked = choices.sort ?? initialSort;
  const by = columns.find(({ id, sort }) => sort && id === asked.replace(/^-/, ''));
  const isDown = asked.startsWith('-');
  const sorted = useMemo(
    () => (serverSort || !by?.sort ? rows : sortedBy(rows, by.sort, isDown)),
    [rows, by, isDown, serverSort],
  );
  useAnnounced(found);
  if (rows.length === 0) return <>{empty ?? <Empty title="No results" />}</>;
  const sortBy = ({ id, kind }: Column<Row>) => {
    const down = id === by?.id ? !isDown : kind === 'number';
    const next = `${down ? '-' : ''}${id}`;
    // A cursor is of one order.
    choose({ ...(serverSort && FIRST_PAGE), sort: next === initialSort ? '' : next }, 'replace');
  };
  return (
    <section
      className={columns.length > 3 ? 'table-frame' : 'table-frame few'}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
      tabIndex={0}
      aria-label={label}
    >
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.id}
                scope="col"
                className={classOf(column)}
                aria-sort={column === by ? (isDown ? 'descending' : 'ascending') : undefined}
              >
                {column.sort ? (
                  <button type="button" className="sort" onClick={() => sortBy(column)}>
                    {column.title}
                  </button>
                ) : (
                  column.title
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr
              key={rowKey(row)}
              className={onOpen && 'opens'}
              onClick={onOpen && ((event) => opened(event, () => onOpen(row)))}
            >
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.id} scope="row">
                    <div className="row-name">
                      {selection && (
                        <Checkbox
                          disabled={selection.can?.(row) === false}
                          size="xs"
                          aria-label={`Select ${rowName?.(row) ?? rowKey(row)}`}
                          checked={selection.chosen.has(rowKey(row))}
                          onChange={() => selection.toggle(row)}
                          onClick={(event) => event.stopPropagation()}
                        />
                      )}
                      {onOpen ? (
                        <button type="button" className="link" aria-label={rowName?.(row)}>
                          {column.cell(row)}
                        </button>
                      ) : (
                        column.cell(row)
                      )}
                    </div>
                  </th>
                ) : (
                  <td key={column.id} className={classOf(column)} data-column={column.title}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
        {total !== undefined && (
          <tfoot>
            <tr>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.id} scope="row">
                    {column.cell(total)}
                  </th>
                ) : (
                  <td key={column.id} className={classOf(column)} data-column={column.title}>
                    {column.cell(total)}
                  </td>
                ),
              )}
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  );
}

/** Rows as a file of comma-separated values, with the columns that have a `csv`. */
export function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): Blob {
  const written = columns.filter(({ csv }) => csv !== undefined);
  const lines = [written.map(({ id }) => id), ...rows.map((row) => written.map(({ csv }) => csv?.(row)))];
  return new Blob([lines.map(csvLine).join('')], { type: 'text/csv' });
}

function sortedBy<Row>(
  rows: readonly Row[],
  value: (row: Row) => number | string,
  isDown: boolean,
): readonly Row[] {
  const sign = isDown ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (typeof a === 'string') return sign * a.localeCompare(String(b), 'en', { sensitivity: 'base' });
    return sign * (a - Number(b));
  });
}

function classOf<Row>({ kind, phone, from }: Column<Row>): string | undefined {
  const classes = [kind === 'number' && 'number', phone && `phone-${phone}`, from && `from-${from}`].filter(
    Boolean,
  );
  return classes.length === 0 ? undefined : classes.join(' ');
}

/** Handles a click in a row: the button's own, or one on the rest of the row, but not the end of selecting text. */
function opened(
  { currentTarget: row, target, detail: clicks }: MouseEvent<HTMLTableRowElement>,
  open: () => void,
): void {
  const inside = (target as Element).closest('a, input, label, button:not(.link)');
  if (inside) return;
  const text = window.getSelection();
  // A key has no clicks: it opens the row, whatever is selected.
  if (clicks > 0 && text?.type === 'Range' && row.contains(text.anchorNode)) return;
  // A panel returns the focus there.
  row.querySelector<HTMLElement>('th .link')?.focus();
  open();
}

/** Announces what was found, each time that it changes, but not what a page begins with. */
function useAnnounced(found: string | undefined): void {
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (found !== undefined && last.current !== undefined && last.current !== found) announce(found);
    last.current = found;
  }, [found]);
}
