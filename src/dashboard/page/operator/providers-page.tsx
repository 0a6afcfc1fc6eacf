import { useState } from 'react';
import type { ProviderListView } from '../../../api/operator/providers-view.ts';
import { readProviders } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { usePolling } from '../api/use-polling.ts';
import { count } from '../format/credits.ts';
import { Badge, Empty, Time } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';

type Provider = ProviderListView['providers'][number];
type Target = Provider['targets'][number];

const REFRESH_MS = 15_000;
/** Fewer models without calls are not folded away. */
const FOLDED = 5;

/** The health of every model at every provider, as the answering process sees it; read again every few seconds. */
export default function ProvidersPage() {
  const loaded = useLoad(readProviders);
  usePolling(loaded, REFRESH_MS);
  return (
    <PageFrame title="Providers">
      <p className="hint">
        State and latency are those of the gateway process that answered. Calls are those of today (UTC) at
        all gateways.
      </p>
      <Shown of={loaded}>{({ providers }) => <ProviderTables providers={providers} />}</Shown>
    </PageFrame>
  );
}

function ProviderTables({ providers }: { providers: readonly Provider[] }) {
  if (providers.length === 0) {
    return (
      <Empty title="No providers">
        <p>The configuration has no model whose provider can be called. Set the credential of one.</p>
      </Empty>
    );
  }
  const callsOf = new Map<string, number>();
  for (const { model, calls } of providers.flatMap(firstTargets))
    callsOf.set(model, (callsOf.get(model) ?? 0) + calls);
  return (
    <>
      {providers
        .toSorted((one, other) => callsAt(other) - callsAt(one))
        .map((provider) => (
          <ProviderSection key={provider.name} of={provider} callsOf={callsOf} />
        ))}
    </>
  );
}

function callsAt(provider: Provider): number {
  return firstTargets(provider).reduce((sum, { calls }) => sum + calls, 0);
}

/** One target of each model: those of the other credentials have the same calls. */
function firstTargets({ targets }: Provider): Target[] {
  return [...new Map(targets.toReversed().map((target) => [target.model, target])).values()];
}

/** Targets that are out come first, then those with calls; the others are folded away. */
function ProviderSection({
  of: { name, format, targets },
  callsOf,
}: {
  of: Provider;
  callsOf: ReadonlyMap<string, number>;
}) {
  const [isWhole, setWhole] = useState(false);
  const sorted = targets.toSorted(
    (one, other) => Number(other.state === 'out') - Number(one.state === 'out') || other.calls - one.calls,
  );
  const busy = sorted.filter(
    ({ state, calls, last_error }) => state === 'out' || calls > 0 || last_error !== null,
  );
  const idle = targets.length - busy.length;
  const shown = isWhole || idle < FOLDED ? sorted : busy;
  const out = targets.filter(({ state }) => state === 'out').length;
  return (
    <section className="card providers">
      <div className="card-head">
        <h2>
          {name}{' '}
          <span className="beside">{format === 'openai' ? "OpenAI's format" : "Anthropic's format"}</span>
        </h2>
        <p className="hint">
          {count(targets.length)} {targets.length === 1 ? 'target' : 'targets'},{' '}
          {out === 0 ? 'all up' : `${count(out)} out`}
          {idle >= FOLDED && (
            <>
              {' · '}
              <button
                type="button"
                className="link"
                aria-expanded={isWhole}
                onClick={() => setWhole(!isWhole)}
              >
                {isWhole ? 'Hide' : 'Show'} {count(idle)} without calls
              </button>
            </>
          )}
        </p>
      </div>
      {shown.length > 0 && (
        <Table
          label={`Targets at ${name}`}
          columns={[
            'Model',
            'State',
            ['Calls', 'number'],
            ['Share', 'number'],
            ['Latency', 'number'],
            'Last error',
          ]}
        >
          {shown.map((target) => (
            <TargetRow
              key={`${target.target} ${target.model}`}
              of={target}
              provider={name}
              allCalls={callsOf.get(target.model) ?? 0}
            />
          ))}
        </Table>
      )}
    </section>
  );
}

function TargetRow({ of, provider, allCalls }: { of: Target; provider: string; allCalls: number }) {
  const { target, model, state, cause, out_until, last_error, last_error_at, latency_ms, calls } = of;
  return (
    <tr className="compact facts">
      <th scope="row" className="clip">
        {model}
        {target !== provider && <span className="beside">{target}</span>}
      </th>
      <td className="nowrap compact-figure">
        {state === 'up' ? <Badge kind="good">Up</Badge> : <Badge kind="bad">Out</Badge>}
        {cause === 'credential' && <span className="beside">credential refused</span>}
        {out_until !== null && (
          <span className="beside">
            until <Time at={out_until} seconds brief />
          </span>
        )}
      </td>
      <td className="number">{count(calls)}</td>
      <td className="number">{allCalls === 0 ? '–' : `${Math.round((calls / allCalls) * 100)}%`}</td>
      <td className="number">{latency_ms === null ? '–' : `${count(latency_ms)} ms`}</td>
      <td
        className={`clip ${last_error === null ? 'compact-hidden' : 'compact-whole'}`}
        title={last_error ?? undefined}
      >
        {last_error_at !== null && (
          <span className="after">
            <Time at={last_error_at} seconds brief />
          </span>
        )}
        {last_error ?? '–'}
      </td>
    </tr>
  );
}
