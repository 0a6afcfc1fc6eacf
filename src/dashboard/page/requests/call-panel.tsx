import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ReadEntryView } from '../../../api/ledger/entry-view.ts';
import { CALLER_FACTS, eachFact } from '../../../domain/caller-facts.ts';
import { read } from '../data/query.ts';
import { count, credits } from '../format/credits.ts';
import { callDuration, durationWords } from '../format/duration.ts';
import { limitName } from '../format/limits.ts';
import { usageWords } from '../format/usage.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import { ChargeParts, Part } from '../ui/charge-parts.tsx';
import { useChoices } from '../ui/choices.ts';
import { CopyValue } from '../ui/copy.tsx';
import { Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { FIRST_PAGE } from '../ui/pager.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import {
  CallStatus,
  groupFilter,
  keyWords,
  type ListedCall,
  OUTCOME_NAMES,
  type Summary,
} from './columns.tsx';
import { Refusal } from './explain.tsx';

/** Details of a call at the side. `calls`: of the shown list, through which the arrows lead. */
export function CallPanel({
  id,
  calls,
  groups,
}: {
  id: string;
  calls: readonly ListedCall[];
  groups: Summary['groups'];
}) {
  const scope = useScope();
  const { choose } = useChoices();
  const listed = calls.find((call) => call.id === id);
  // Only the operator's list of all accounts has all that the operator may see.
  const isWhole = listed !== undefined && scope.kind !== 'operated';
  const path = `${scope.kind === 'own' ? scope.api : '/api/admin/'}calls/${encodeURIComponent(id)}/`;
  const loaded = useQuery({
    ...read<ListedCall>(scope, path),
    ...(isWhole && { initialData: listed, staleTime: Number.POSITIVE_INFINITY }),
  });
  const place = calls.findIndex((call) => call.id === id);
  const [newer, older] = place < 0 ? [] : [calls[place - 1], calls[place + 1]];
  const show = (call: ListedCall | undefined) => call && choose({ call: call.id }, 'replace');
  useArrows({ ArrowUp: () => show(newer), ArrowDown: () => show(older) });
  return (
    <Panel
      title="Request"
      onClose={() => choose({ call: '' })}
      actions={
        place >= 0 && (
          <>
            <Button size="xs" variant="default" disabled={!newer} onClick={() => show(newer)}>
              ↑ Previous
            </Button>
            <Button size="xs" variant="default" disabled={!older} onClick={() => show(older)}>
              ↓ Next
            </Button>
          </>
        )
      }
    >
      <Shown of={loaded}>{(call) => <Call key={id} of={call} groups={groups} />}</Shown>
    </Panel>
  );
}

/** Acts on keys that are pressed outside a field. */
function useArrows(acts: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const act = acts[event.key];
      if (!act || (event.target as Element).closest('input, select, textarea, [role="slider"]')) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  });
}

function Call({ of: call, groups }: { of: ListedCall; groups: Summary['groups'] }) {
  const scope = useScope();
  const { outcome, account_id, account_email } = call;
  const keys = scope.kind === 'operator' ? `/operator/accounts/${account_id}/keys` : 'keys';
  const isSpent = outcome !== 'refused' && outcome !== null;
  return (
    <>
      {call.message !== null && (
        <Note kind={outcome === 'complete' ? 'info' : 'warning'}>
          <p>
            <InZone>{call.message}</InZone>
          </p>
        </Note>
      )}
      {outcome === 'refused' && call.key_id !== null && <Refusal of={call} />}
      <LikeThis of={call} groups={groups} />
      <Facts>
        <Fact name="Status">
          <CallStatus of={call} />
        </Fact>
        {outcome !== null && <Fact name="Result">{OUTCOME_NAMES[outcome]}</Fact>}
        {call.param !== null && <Fact name="Field">{call.param}</Fact>}
        <Reasons of={call.detail} />
        <Fact name="Time">
          <Time at={call.created_at} seconds />
        </Fact>
        {scope.kind === 'operator' && (
          <Fact name="Account">
            <PageLink to={`/operator/accounts/${account_id}/home`}>
              {account_email ?? `Account ${account_id}`}
            </PageLink>
          </Fact>
        )}
        <Fact name="Key">
          {call.key_id !== null && scope.can('read keys') ? (
            <PageLink to={`${keys}/${call.key_id}`}>{keyWords(call)}</PageLink>
          ) : (
            keyWords(call)
          )}
        </Fact>
        {call.member && <Fact name="Member">{call.member.name}</Fact>}
        <Fact name="Model">{call.model ?? 'Unknown: refused before the body was read'}</Fact>
        <Fact name="Endpoint">{call.endpoint ?? '–'}</Fact>
        {call.streamed !== null && <Fact name="Streamed">{call.streamed ? 'Yes' : 'No'}</Fact>}
        {call.duration_ms !== null && <Fact name="Duration">{callDuration(call.duration_ms)}</Fact>}
        {call.first_byte_ms !== null && <Fact name="First byte">{callDuration(call.first_byte_ms)}</Fact>}
        {call.upstream !== null && <Fact name="Provider">{call.upstream}</Fact>}
        {call.user_agent !== null && <Fact name="Client">{call.user_agent}</Fact>}
        {isSpent && <Fact name="Used">{usageWords(call.usage) || 'Nothing'}</Fact>}
        <Fact name="Charge">
          <Amount of={call.charge} />
          {call.estimated && ' (estimated: the provider reported no usage)'}
        </Fact>
        {scope.kind !== 'own' && isSpent && (
          <Fact name="Provider's cost">{call.cost == null ? 'Unknown' : <Amount of={call.cost} />}</Fact>
        )}
      </Facts>
      <Attempts of={call} />
      {isSpent && scope.can('read the ledger') && <Calculation of={call} />}
      <CopyValue label="Request ID" value={call.id} />
    </>
  );
}

/** Times in a message of the gateway, which writes them in UTC, in the zone of the reader. */
function InZone({ children }: { children: string }) {
  return children
    .split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/)
    .map((part, place) => (place % 2 === 1 ? <Time key={place} at={part} /> : part));
}

/** Leads to the calls with the same error at the same endpoint and model. */
function LikeThis({ of: call, groups }: { of: ListedCall; groups: Summary['groups'] }) {
  const { choose } = useChoices();
  if (call.code === null) return null;
  const { code, endpoint, model } = call;
  const group = groups.find((one) => one.code === code && one.endpoint === endpoint && one.model === model);
  const others = group && group.count - 1;
  if (others === 0) return null;
  return (
    <p className="panel-actions">
      <button
        type="button"
        className="link"
        onClick={() => choose({ ...FIRST_PAGE, ...groupFilter(call), view: '', call: '' })}
      >
        {others === undefined ? 'More like this' : `${count(others)} more like this`}
      </button>
    </p>
  );
}

const DETAIL_NAMES: Readonly<Record<string, string>> = {
  ...eachFact((fact) => CALLER_FACTS[fact].label),
  hold: 'Maximum cost',
  estimate: 'Estimated cost',
  balance: 'Balance then',
  held: 'Held then',
  limit: 'Limit',
  of: 'Limit of',
};
const AMOUNTS: ReadonlySet<string> = new Set(['hold', 'estimate', 'balance', 'held']);

/** Facts behind a refusal. */
function Reasons({ of: detail }: { of: ListedCall['detail'] }) {
  if (detail === null) return null;
  const { limit, retry_after_ms, ...rest } = detail;
  return (
    <>
      {Object.entries(rest).map(([name, value]) =>
        value == null ? null : (
          <Fact key={name} name={DETAIL_NAMES[name] ?? name}>
            {AMOUNTS.has(name) ? <Amount of={value} /> : value}
          </Fact>
        ),
      )}
      {typeof limit === 'string' && <Fact name="Limit">{limit}</Fact>}
      {typeof limit === 'object' && (
        <>
          <Fact name="Limit">
            {limitName(limit)}: {credits(limit.credits)}
          </Fact>
          {limit.spent !== null && <Fact name="Spent then">{<Amount of={limit.spent} />}</Fact>}
          {limit.held !== null && <Fact name="Held of it then">{<Amount of={limit.held} />}</Fact>}
          {limit.resets_at !== null && (
            <Fact name="Limit resets">
              <Time at={limit.resets_at} />
            </Fact>
          )}
        </>
      )}
      {retry_after_ms !== undefined && <Fact name="Retry after">{durationWords(retry_after_ms)}</Fact>}
    </>
  );
}

function Attempts({ of: { attempts } }: { of: ListedCall }) {
  if (attempts.length === 0) return null;
  return (
    <Part title="Attempts">
      <thead>
        <tr>
          <th scope="col">Provider</th>
          <th scope="col">Status</th>
          <th scope="col" className="number">
            Duration
          </th>
        </tr>
      </thead>
      <tbody>
        {attempts.map(({ target, status, ms }, place) => (
          <tr key={place}>
            <th scope="row">{target}</th>
            <td>{status ?? 'No response'}</td>
            <td className="number">{callDuration(ms)}</td>
          </tr>
        ))}
      </tbody>
    </Part>
  );
}

/** How the charge is computed: units used at the prices of then, which add up to it. */
function Calculation({ of: call }: { of: ListedCall }) {
  const scope = useScope();
  const { data: entry } = useQuery(
    read<ReadEntryView>(scope, `${accountApi(scope, call)}ledger/${call.id}/?parts=true`),
  );
  return entry ? <ChargeParts of={entry} /> : null;
}

/** Path of the API of the account that a call belongs to. */
export function accountApi(scope: Scope, { account_id }: Pick<ListedCall, 'account_id'>): string {
  return scope.kind === 'own' ? scope.api : `/api/admin/accounts/${account_id ?? scope.accountId}/`;
}
