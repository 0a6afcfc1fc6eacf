import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReadEntryView } from '../../../api/ledger/entry-view.ts';
import { read } from '../data/query.ts';
import { callDuration } from '../format/duration.ts';
import { dayName } from '../format/time.ts';
import { priceWords, usageWords } from '../format/usage.ts';
import { keyWords, OUTCOME_NAMES } from '../requests/columns.tsx';
import { useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { ChargeParts } from '../ui/charge-parts.tsx';
import { useChoices } from '../ui/choices.ts';
import { CopyValue } from '../ui/copy.tsx';
import { Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import { ENTRY_NAMES, EntryStatus } from './entries.tsx';

/** A ledger entry at the side; of a call, with the parts that add up to its charge. */
export function EntryPanel({ id }: { id: string }) {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const loaded = useQuery(
    read<ReadEntryView>(scope, `${scope.api}ledger/${encodeURIComponent(id)}/?parts=true`),
  );
  const { day } = choices;
  return (
    <Panel
      title={loaded.data ? ENTRY_NAMES[loaded.data.type] : 'Entry'}
      onClose={() => choose({ entry: '', day: '' })}
      actions={
        day && (
          <Button size="xs" variant="default" onClick={() => choose({ entry: '' })}>
            ← Charges of {dayName(day)}
          </Button>
        )
      }
    >
      <Shown of={loaded}>{(entry) => <Entry of={entry} />}</Shown>
    </Panel>
  );
}

function Entry({ of: entry }: { of: ReadEntryView }) {
  const scope = useScope();
  const { id, key_id, passes = [], multiplier, upstream, attempts, duration_ms, streamed, outcome } = entry;
  const isCall = duration_ms !== null;
  return (
    <>
      <Facts>
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
        {key_id !== null && (
          <Fact name="Key">
            {scope.can('read keys') ? (
              <PageLink to={`keys/${key_id}`}>{keyWords(entry)}</PageLink>
            ) : (
              keyWords(entry)
            )}
          </Fact>
        )}
        {entry.member && <Fact name="Member">{entry.member.name}</Fact>}
        {entry.model !== null && <Fact name="Model">{entry.model}</Fact>}
        {entry.endpoint !== null && <Fact name="Endpoint">{entry.endpoint}</Fact>}
        {entry.status !== null && (
          <Fact name="Status">
            <EntryStatus of={entry} />
          </Fact>
        )}
        {outcome !== null && outcome !== 'complete' && <Fact name="Result">{OUTCOME_NAMES[outcome]}</Fact>}
        {usageWords(entry.usage) !== '' && (
          <Fact name="Used">
            {usageWords(entry.usage)}
            {entry.estimated && ' (estimated: the provider reported no usage)'}
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
        {multiplier !== null && multiplier !== 1 && (
          <Fact name="Multiplier">
            {multiplier === 0
              ? '0, because the provider does not bill refusals'
              : `${multiplier} (service tier)`}
          </Fact>
        )}
        {duration_ms !== null && <Fact name="Duration">{callDuration(duration_ms)}</Fact>}
        {streamed !== null && <Fact name="Streamed">{streamed ? 'Yes' : 'No'}</Fact>}
        {upstream !== null && <Fact name="Provider">{upstream}</Fact>}
        {attempts !== null && attempts.length > 1 && (
          <Fact name="Attempts">{attempts.map(attemptWords).join('; ')}</Fact>
        )}
      </Facts>
      <ChargeParts of={entry} />
      {isCall && scope.can('read calls') && (
        <p className="panel-actions">
          <PageLink to="requests" choices={{ call: id }}>
            Show the request
          </PageLink>
        </p>
      )}
      <CopyValue label={isCall ? 'Request ID' : 'Entry ID'} value={id} />
    </>
  );
}

function attemptWords({ target, status, ms }: NonNullable<ReadEntryView['attempts']>[number]): string {
  return `${target} (${status ?? 'no response'}, ${callDuration(ms)})`;
}
