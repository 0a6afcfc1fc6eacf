import type { ReactNode } from 'react';
import type { ChargePartView, ReadEntryView } from '../../../api/ledger/entry-view.ts';
import { UNITS, type Unit } from '../../../domain/units.ts';
import { count, credits } from '../format/credits.ts';

/** How a charge is computed: units used at the prices of then, which add up to it. */
export function ChargeParts({ of: { parts, sum } }: { of: ReadEntryView }) {
  if (!parts || parts.length === 0) return null;
  return (
    <Part title="Calculation">
      <tbody>
        {parts.map((part, place) => (
          <tr key={place}>
            <th scope="row">{partWords(part)}</th>
            <td className="number">{part.credits}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">Charge</th>
          <td className="number">{sum}</td>
        </tr>
      </tfoot>
    </Part>
  );
}

/** `8 input tokens × 1.00 per 1,000,000`, with the factor of a service tier. */
function partWords({ unit, used, price, per, multiplier }: ChargePartView): string {
  if (used === null || price === null || per === null) return 'Rounded up to a micro-credit';
  const each = `${credits(price)}${per === 1 ? '' : ` per ${count(per)}`}`;
  const factor = multiplier === null || multiplier === 1 ? '' : ` × ${multiplier}`;
  return `${count(used)} ${UNITS[unit as Unit].words} × ${each}${factor}`;
}

/** A table among the details of a call or an entry. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="call-parts">
      <h3>{title}</h3>
      <div className="table-frame few">
        <table aria-label={title}>{children}</table>
      </div>
    </section>
  );
}
