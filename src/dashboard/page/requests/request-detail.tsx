import type { KeyView } from '../../../api/keys/key-view.ts';
import { CALLER_FACTS, eachFact } from '../../../domain/caller-facts.ts';
import { type Base, OWN, readEntry, readKeys } from '../api/account.ts';
import type { CallsBase, ListedCall } from '../api/calls.ts';
import { useLoad } from '../api/use-load.ts';
import { callDuration } from '../format/duration.ts';
import { refusingLimitWords } from '../format/limits.ts';
import { usageWords } from '../format/usage.ts';
import { keyName } from '../keys/key-label.tsx';
import { can } from '../session/may.ts';
import { session } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { CopyValue } from '../ui/copy-value.tsx';
import { Time } from '../ui/elements.tsx';
import { Fact, SidePanel } from '../ui/side-panel.tsx';
import { chargeLines } from './charge-lines.ts';
import { CallStatus } from './request-table.tsx';

/** Everything that is recorded of a request, and how its charge is computed. */
export function RequestDetail({
  of: call,
  base,
  keys: listed,
  onClose,
}: {
  of: ListedCall;
  base: CallsBase;
  keys: readonly KeyView[];
  onClose: () => void;
}) {
  const { detail, attempts, user_agent } = call;
  // The list over all accounts knows no keys: those of the call's account are read when it is opened.
  const account = base === '/api/admin/' ? baseOf(call) : base;
  const read = useLoad(async (signal) => (account === base ? listed : readKeys(account, signal)), account);
  const keys = account === base ? listed : (read.data ?? []);
  const isExplained =
    (account !== OWN || can(session.value?.role ?? 'key', 'explain calls')) && call.key_id !== null;
  return (
    <SidePanel title="Request" onClose={onClose}>
      <dl className="request-detail">
        <Fact name="Status">
          <CallStatus of={call} />
        </Fact>
        {call.message !== null && <Fact name="Message">{call.message}</Fact>}
        {call.param !== null && <Fact name="Field">{call.param}</Fact>}
        {detail !== null &&
          Object.entries(detail)
            .filter(([, value]) => value !== null)
            .map(([name, value]) => (
              <Fact key={name} name={DETAIL_NAMES[name] ?? name}>
                {AMOUNTS.has(name) ? <Amount of={String(value)} /> : detailWords(value)}
              </Fact>
            ))}
        <Fact name="Time">
          <Time at={call.created_at} seconds />
        </Fact>
        <Fact name="Key">{keyName(call.key_id, keys)}</Fact>
        <Fact name="Model">{call.model ?? 'not known: refused before the body was read'}</Fact>
        <Fact name="Endpoint">{call.endpoint}</Fact>
        {call.streamed !== null && <Fact name="Response">{call.streamed ? 'streamed' : 'not streamed'}</Fact>}
        {call.duration_ms !== null && <Fact name="Duration">{callDuration(call.duration_ms)}</Fact>}
        {call.first_byte_ms !== null && <Fact name="First byte">{callDuration(call.first_byte_ms)}</Fact>}
        {call.upstream !== null && <Fact name="Provider">{call.upstream}</Fact>}
        {attempts.length > 1 && (
          <Fact name="Tried at">
            {attempts.map(({ target, status }) => `${target} (${status ?? 'no answer'})`).join('; ')}
          </Fact>
        )}
        {user_agent !== null && <Fact name="Client">{user_agent}</Fact>}
        <Fact name="Charge">
          <Amount of={call.charge} />
          {call.estimated && ' (estimated)'}
        </Fact>
        {call.outcome !== 'refused' && <Charge of={call} base={account} />}
      </dl>
      <CopyValue label="Request ID" value={call.id} verb="Copy id" />
      <div className="actions">
        {isExplained && (
          <a
            className={call.outcome === 'complete' ? 'button' : 'button primary'}
            href={explainAddress(call, account)}
          >
            Explain
          </a>
        )}
      </div>
    </SidePanel>
  );
}

const DETAIL_NAMES: Readonly<Record<string, string>> = {
  ...eachFact((fact) => CALLER_FACTS[fact].label),
  hold: 'Could cost',
  estimate: 'Likely cost',
  balance: 'Balance then',
  held: 'Held then',
  limit: 'Limit',
  of: 'Limit of',
  retry_after_ms: 'Room again after (ms)',
};

const AMOUNTS: ReadonlySet<string> = new Set(['hold', 'estimate', 'balance', 'held']);

type Detail = NonNullable<ListedCall['detail']>;

function detailWords(value: Detail[keyof Detail]): string {
  return typeof value === 'object' && value !== null ? refusingLimitWords(value) : String(value);
}

/** How the charge is computed: what was used, at the prices of then. */
function Charge({ of: { id, usage }, base }: { of: ListedCall; base: Base }) {
  const isShown = session.value?.role !== 'member';
  const { data: entry } = useLoad(async (signal) =>
    isShown ? await readEntry(base, id, signal) : undefined,
  );
  return (
    <>
      <Fact name="Used">{usageWords(usage) || 'nothing'}</Fact>
      {entry?.price && (
        <Fact name="Computed">
          {chargeLines(usage, entry).map((line) => (
            <div key={line}>{line}</div>
          ))}
        </Fact>
      )}
    </>
  );
}

/** Path below which the account of a call is, for the operator. */
function baseOf({ account_id = 0 }: ListedCall): Base {
  return `/api/admin/accounts/${account_id}/`;
}

/** The page that explains a call like this one. */
function explainAddress({ key_id, model, endpoint, created_at, detail }: ListedCall, account: Base): string {
  const question = Object.entries({
    model,
    endpoint,
    ...eachFact((fact) => detail?.[fact]),
    at: created_at,
  }).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  if (account === OWN) return `#/explain/${key_id}?${new URLSearchParams(question)}`;
  const asked = new URLSearchParams([['key_id', String(key_id)], ...question]);
  return `#/accounts/${account.split('/')[4]}/explain?${asked}`;
}
