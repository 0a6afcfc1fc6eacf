import { count, creditsInColumn } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { Table } from '../ui/table.tsx';
import type { DaySpend } from './use-spend.ts';

export function DayTable({ days }: { days: readonly DaySpend[] }) {
  return (
    <Table label="Spend by day" columns={['Day (UTC)', ['Calls', 'number'], ['Credits', 'number']]}>
      {days.toReversed().map((row) => (
        <tr key={row.day}>
          <th scope="row">{dayName(row.day)}</th>
          <td class="number">{count(row.calls)}</td>
          <td class="number">{creditsInColumn(row.credits)}</td>
        </tr>
      ))}
    </Table>
  );
}
