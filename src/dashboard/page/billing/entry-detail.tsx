import type { KeyView } from '../../../api/keys/key-view.ts';
import type { EntryView } from '../../../api/ledger/entry-view.ts';
import { callDuration } from '../format/duration.ts';
import { priceWords, usageWords } from '../format/usage.ts';
import { keyName } from '../keys/key-label.tsx';
import { Amount } from '../ui/amount.tsx';
import { CopyValue } from '../ui/copy-value.tsx';
import { Time } from '../ui/elements.tsx';
import { Fact, SidePanel } from '../ui/side-panel.tsx';
import { ENTRY_NAMES, named, OUTCOME_NAMES } from './entry-names.ts';

/** A ledger entry with all that it says; of a call with its prices and its course. */
export function EntryDetail({
  of: entry,
  keys,
  onClose,
}: {
  of: EntryView;
  keys: readonly KeyView[];
  onClose: () => void;
}) {
  const { id, price, passes = [], multiplier, upstream, attempts, duration_ms, streamed, outcome } = entry;
  const prices = Object.entries(price ?? {});
  return (
    <SidePanel title={named(ENTRY_NAMES, entry.type)} onClose={onClose}>
      <dl className="request-detail">
        <Fact name="Credits">
          <Amount of={entry.credits} isChange />
        </Fact>
        {entry.balance_after !== null && (
          <Fact name="Balance after">
            <Amount of={entry.balance_after} />
          </Fact>
        )}
        <Fact name="Time">
          <Time at={entry.created_at} seconds />
        </Fact>
        {entry.note !== null && <Fact name="Note">{entry.note}</Fact>}
        {entry.key_id !== null && <Fact name="Key">{keyName(entry.key_id, keys)}</Fact>}
        {entry.model !== null && <Fact name="Model">{entry.model}</Fact>}
        {entry.endpoint !== null && <Fact name="Endpoint">{entry.endpoint}</Fact>}
        {entry.status !== null && (
          <Fact name="Status">
            {entry.status}
            {outcome !== null && outcome !== 'complete' && `, ${named(OUTCOME_NAMES, outcome)}`}
          </Fact>
        )}
        {usageWords(entry.usage) !== '' && (
          <Fact name="Used">
            {usageWords(entry.usage)}
            {entry.estimated && ' (estimated)'}
          </Fact>
        )}
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
      </dl>
      <CopyValue label={duration_ms === null ? 'Entry ID' : 'Request ID'} value={id} verb="Copy id" />
    </SidePanel>
  );
}

function multiplierWords(multiplier: number): string {
  if (multiplier === 1) return '1';
  return multiplier === 0 ? '0, because the provider does not bill refusals' : `${multiplier} (service tier)`;
}

function attemptWords({ target, status, ms }: NonNullable<EntryView['attempts']>[number]): string {
  return `${target} (${status ?? 'no answer'}, ${callDuration(ms)})`;
}
