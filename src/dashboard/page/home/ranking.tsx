import { useState } from 'react';
import { count, creditsInColumn } from '../format/credits.ts';
import { Bar } from '../ui/elements.tsx';
import { Table } from '../ui/table.tsx';
import type { Spent } from './use-spend.ts';

const SHOWN = 8;

interface Row extends Spent {
  readonly name: string;
  readonly href: string | undefined;
}

/** Table with bars: the rows with the highest charges first, each with its share. */
export function Ranking({ title, subject, rows }: { title: string; subject: string; rows: readonly Row[] }) {
  const sorted = rows.toSorted((a, b) => Number(b.credits) - Number(a.credits));
  const [isWhole, setWhole] = useState(false);
  const most = Number(sorted[0]?.credits ?? 0);
  return (
    <section className="card">
      <h2>{title}</h2>
      <p className="hint">
        The last 30 days{!isWhole && sorted.length > SHOWN && `; the first ${SHOWN} of ${sorted.length}`}
      </p>
      <Table label={title} columns={[subject, ['Calls', 'number'], ['Credits', 'number']]}>
        {sorted.slice(0, isWhole ? sorted.length : SHOWN).map((row) => (
          <tr key={row.href ?? row.name}>
            <th scope="row">
              {row.href ? <a href={row.href}>{row.name}</a> : row.name}
              <Bar part={most > 0 ? Number(row.credits) / most : 0} />
            </th>
            <td className="number">{count(row.calls)}</td>
            <td className="number">{creditsInColumn(row.credits)}</td>
          </tr>
        ))}
      </Table>
      {sorted.length > SHOWN && (
        <button
          type="button"
          className="link more"
          aria-expanded={isWhole}
          aria-label={`${isWhole ? 'Show fewer' : `Show all ${sorted.length}`}: ${title}`}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? 'Show fewer' : `Show all ${sorted.length}`}
        </button>
      )}
    </section>
  );
}
