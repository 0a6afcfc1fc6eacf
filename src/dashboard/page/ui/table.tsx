import type { ReactNode } from 'react';
import { useLayoutEffect, useRef } from 'react';

/**
 * Name of a column, with its class where it is not plain text: `number`, or `wide-only` for one that is left out at
 * widths between phones and desktops.
 */
export type Column = string | readonly [name: string, kind: string];

/**
 * Table that scrolls by itself where the screen is too narrow, with a shadow at an edge beyond which there is more. It
 * can be focused, so that the keyboard can scroll it. On phones each row is a card.
 */
export function Table({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
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
  const frame = { className: 'table-frame', role: 'region', tabIndex: 0, 'aria-label': label } as const;
  return (
    <div {...frame}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, kind] = typeof column === 'string' ? [column] : column;
              return (
                <th key={name} scope="col" className={kind}>
                  {name}
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
