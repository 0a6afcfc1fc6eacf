import type { ComponentChildren } from 'preact';

/** The name of a column, with its class where it is not plain text: `number`, or `wide-only`, left out on phones. */
export type Column = string | readonly [name: string, kind: string];

/** A table that scrolls by itself where the screen is too narrow; so the keyboard must be able to get there. */
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
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
