import { useEffect } from 'react';
import type { ProviderListView } from '../../../api/operator/providers-view.ts';
import { readProviders } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { count } from '../format/credits.ts';
import { Badge, Empty, Section, Time } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';

type Provider = ProviderListView['providers'][number];
type Target = Provider['targets'][number];

const REFRESH_MS = 5_000;

/** The health of every model at every provider, as all gateways see it; read again every few seconds. */
export default function ProvidersPage() {
  const loaded = useLoad(readProviders);
  const { reload } = loaded;
  useEffect(() => {
    const timer = setInterval(reload, REFRESH_MS);
    return () => clearInterval(timer);
  }, [reload]);
  return (
    <PageFrame title="Providers">
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
  for (const { model, calls } of providers.flatMap(({ targets }) => targets))
    callsOf.set(model, (callsOf.get(model) ?? 0) + calls);
  return (
    <>
      {providers.map(({ name, format, targets }) => (
        <Section key={name} title={name}>
          <p className="hint">{format === 'openai' ? "OpenAI's format" : "Anthropic's format"}</p>
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
            {targets.map((target) => (
              <TargetRow
                key={`${target.target} ${target.model}`}
                of={target}
                allCalls={callsOf.get(target.model) ?? 0}
              />
            ))}
          </Table>
        </Section>
      ))}
    </>
  );
}

function TargetRow({ of, allCalls }: { of: Target; allCalls: number }) {
  const { target, model, state, out_until, last_error, last_error_at, latency_ms, calls } = of;
  return (
    <tr>
      <th scope="row">
        {model}
        <span className="sub">{target}</span>
      </th>
      <td>
        {state === 'up' ? <Badge kind="good">Up</Badge> : <Badge kind="bad">Out</Badge>}
        {out_until !== null && (
          <span className="sub">
            until <Time at={out_until} seconds />
          </span>
        )}
      </td>
      <td className="number">{count(calls)}</td>
      <td className="number">{allCalls === 0 ? '–' : `${Math.round((calls / allCalls) * 100)} %`}</td>
      <td className="number">{latency_ms === null ? '–' : `${count(latency_ms)} ms`}</td>
      <td>
        {last_error === null ? 'None' : last_error}
        {last_error_at !== null && (
          <span className="sub">
            <Time at={last_error_at} seconds />
          </span>
        )}
      </td>
    </tr>
  );
}
