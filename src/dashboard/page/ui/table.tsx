import type { MouseEvent, ReactNode } from 'react';
import { useLayoutEffect, useRef } from 'react';
import type { Sorting } from './sorting.ts';

/**
 * Name of a column, with its class where it is not plain text: `number`, or `wide-only` for one that is left out at
 * widths between phones and desktops.
 */
export type Column = string | readonly [name: string, kind: string];

/**
 * Handler of clicks in a row whose first column has a button: the button's own, and those on the rest of the row,
 * except at the end of selecting text. The button then has the focus, to which a panel returns it.
 */
export function opening(open: () => void) {
  return ({ currentTarget: row, detail: clicks }: MouseEvent<HTMLTableRowElement>) => {
    const selection = window.getSelection();
    // A key has no clicks: it opens the row, whatever is selected.
    if (clicks > 0 && selection?.type === 'Range' && row.contains(selection.anchorNode)) return;
    row.querySelector<HTMLElement>('th button')?.focus();
    open();
  };
}

/**
 * Table that scrolls by itself where the screen is too narrow, with a shadow at an edge beyond which there is more. It
 * can be focused, so that the keyboard can scroll it. On phones each row of more than three columns is a card. With
 * `sorting`, the columns that it names have buttons that sort by them.
 */
export function Table({
  label,
  columns,
  sorting,
  children,
}: {
  label: string;
  columns: readonly Column[];
  sorting?: Sorting | undefined;
  /** The rows. */
  children: ReactNode;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const names = columns.map((column) => (typeof column === 'string' ? column : column[0]));
  useLayoutEffect(() => {
    // In a card, each cell stands beside the name of its column, which style sheets read from this attribute.
    for (const row of body.current?.rows ?? []) {
      for (const [index, cell] of [...row.cells].entries()) cell.dataset.column = names[index];
    }
  });
  const frame = {
    className: names.length > 3 ? 'table-frame' : 'table-frame few',
    role: 'region',
    tabIndex: 0,
    'aria-label': label,
  } as const;
  return (
    <div {...frame}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, kind] = typeof column === 'string' ? [column] : column;
              const word = sorting?.words[name];
              if (!sorting || word === undefined) {
                return (
                  <th key={name} scope="col" className={kind}>
                    {name}
                  </th>
                );
              }
              const isBy = sorting.by === word;
              const order = sorting.isDown ? 'descending' : 'ascending';
              return (
                <th key={name} scope="col" className={kind} aria-sort={isBy ? order : undefined}>
                  <button type="button" className="sort" onClick={() => sorting.choose(word)}>
                    {name}
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody ref={body}>{children}</tbody>
      </table>
    </div>
  );
}
