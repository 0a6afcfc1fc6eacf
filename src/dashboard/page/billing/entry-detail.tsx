import type { ReactNode } from 'react';
import type { EntryView } from '../../../api/ledger/entry-view.ts';
import { callDuration } from '../format/duration.ts';
import { priceWords, usageWords } from '../format/usage.ts';

/** Prices and course of a call; empty for entries that are no calls. */
export function EntryDetail({ of: entry }: { of: EntryView }) {
  const { id, price, passes = [], multiplier, upstream, attempts, duration_ms, streamed } = entry;
  if (price === null && duration_ms === null) return null;
  const prices = Object.entries(price ?? {});
  return (
    <details className="entry-detail">
      <summary aria-label={`Details of ${id}`}>Details</summary>
      <dl>
        {prices.length > 0 && (
          <Fact name="Price">
            {prices.map(([unit, amount]) => (
              <div key={unit}>{priceWords(unit, amount)}</div>
            ))}
          </Fact>
        )}
        {passes.map((pass, index) => (
          <Fact key={index} name={`Pass ${index + 1}`}>
            <div>{usageWords(pass.usage)}</div>
            {Object.entries(pass.price).map(([unit, amount]) => (
              <div key={unit}>{priceWords(unit, amount)}</div>
            ))}
          </Fact>
        ))}
        {multiplier !== null && prices.length > 0 && (
          <Fact name="Multiplier">{multiplierWords(multiplier)}</Fact>
        )}
        {duration_ms !== null && <Fact name="Duration">{callDuration(duration_ms)}</Fact>}
        {streamed !== null && <Fact name="Response">{streamed ? 'streamed' : 'not streamed'}</Fact>}
        {upstream !== null && <Fact name="Provider">{upstream}</Fact>}
        {attempts !== null && attempts.length > 1 && (
          <Fact name="Tried at">{attempts.map(attemptWords).join('; ')}</Fact>
        )}
        <Fact name="Request">{id}</Fact>
      </dl>
    </details>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function multiplierWords(multiplier: number): string {
  if (multiplier === 1) return '1';
  return multiplier === 0 ? '0, because the provider does not bill refusals' : `${multiplier} (service tier)`;
}

function attemptWords({ target, status, ms }: NonNullable<EntryView['attempts']>[number]): string {
  return `${target} (${status ?? 'no answer'}, ${callDuration(ms)})`;
}
