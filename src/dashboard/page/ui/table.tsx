import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * The name of a column, with its class where it is not plain text: `number`, or `wide-only`, left out between phones and
 * desks.
 */
export type Column = string | readonly [name: string, kind: string];

/**
 * A table that scrolls by itself where the screen is too narrow, with a shadow at the edge that hides something; so the
 * keyboard must be able to get there. On phones each row is a card.
 */
export function Table({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
  /** Its rows. */
  children: ComponentChildren;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const names = columns.map((column) => (typeof column === 'string' ? column : column[0]));
  useLayoutEffect(() => {
    // A cell in a card stands beside the name of its column.
    for (const row of body.current?.rows ?? []) {
      for (const [index, cell] of [...row.cells].entries()) cell.dataset.column = names[index];
    }
  });
  const frame = { class: 'table-frame', role: 'region', tabIndex: 0, 'aria-label': label } as const;
  return (
    <div {...frame}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, kind] = typeof column === 'string' ? [column] : column;
              return (
                <th key={name} scope="col" class={kind}>
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
