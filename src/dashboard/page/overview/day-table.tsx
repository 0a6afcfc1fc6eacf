import { count, creditsInColumn } from '../format/credits.ts';
import { dayName } from '../format/time.ts';
import { Table } from '../ui/table.tsx';
import type { DaySpend } from './every-day.ts';

export function DayTable({ days }: { days: readonly DaySpend[] }) {
  return (
    <Table label="Spend by day">
      <thead>
        <tr>
          <th scope="col">Day (UTC)</th>
          <th scope="col" class="number">
            Calls
          </th>
          <th scope="col" class="number">
            Credits
          </th>
        </tr>
      </thead>
      <tbody>
        {days.toReversed().map((row) => (
          <tr key={row.day}>
            <th scope="row">{dayName(row.day)}</th>
            <td class="number">{count(row.calls)}</td>
            <td class="number">{creditsInColumn(row.credits)}</td>
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
