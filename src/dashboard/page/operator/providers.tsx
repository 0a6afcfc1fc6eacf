import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ProviderListView } from '../../../api/operator/providers-view.ts';
import { POLL_MS, read } from '../data/query.ts';
import { callsInWords, count } from '../format/credits.ts';
import { callDuration } from '../format/duration.ts';
import { percent } from '../home/pace.ts';
import { useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { Badge, Card, Empty, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import {
  type Credential,
  credentialsOf,
  isIdle,
  type Provider,
  sumOf,
  type Target,
  worstFirst,
} from './worst-first.ts';
import '../style/operator.css';

/** Fewer models without calls are not folded away. */
const FOLDED = 5;

/** The health of every model at every credential of every provider, worst first. */
export default function ProvidersPage() {
  const providers = useQuery({
    ...read<ProviderListView>(useScope(), '/api/admin/providers/'),
    refetchInterval: POLL_MS,
  });
  return (
    <Page title="Providers">
      <p className="lead">
        States and latencies are those of the gateway process that answered. Attempts, calls and last errors
        come from the record of all gateways.
      </p>
      <Shown of={providers}>{(list) => <Providers of={worstFirst(list.providers)} />}</Shown>
    </Page>
  );
}

function Providers({ of: providers }: { of: readonly Provider[] }) {
  const { choices, choose } = useChoices();
  const shown = providers.flatMap(({ targets }) => targets).find((one) => nameOf(one) === choices.target);
  if (providers.length === 0) {
    return (
      <Empty title="No providers">
        <p>The configuration has no model whose provider can be called. Set the credential of one.</p>
      </Empty>
    );
  }
  return (
    <>
      {providers.map((provider) => (
        <ProviderCard key={provider.name} of={provider} />
      ))}
      {shown && <TargetPanel of={shown} onClose={() => choose({ target: '' }, 'replace')} />}
    </>
  );
}

function nameOf({ target, model }: Target): string {
  return `${target} ${model}`;
}

function ProviderCard({ of: provider }: { of: Provider }) {
  const credentials = credentialsOf(provider);
  const [hour, day] = [sumOf(provider, 'hour'), sumOf(provider, 'day')];
  return (
    <Card
      title={provider.name}
      actions={
        <PageLink to="requests" choices={{ upstream: provider.name, result: 'failed' }}>
          Failed requests
        </PageLink>
      }
    >
      <p className="hint provider-sums">
        {provider.format === 'openai' ? "OpenAI's format" : "Anthropic's format"} · 1 h: {share(hour)} · 24 h:{' '}
        {share(day)}
      </p>
      {credentials.map((credential) => (
        <CredentialTable key={credential.name} of={credential} isOnly={credentials.length === 1} />
      ))}
    </Card>
  );
}

/** `3 of 31 attempts failed (9.7%)`. */
function share({ attempts, failed }: Target['hour']): string {
  if (attempts === 0) return 'no calls';
  if (failed === 0) return `${count(attempts)} attempts, none failed`;
  return `${count(failed)} of ${count(attempts)} attempts failed (${percent(failed, attempts)})`;
}

/** Models at a credential; those without calls are folded away. */
function CredentialTable({ of: { name, targets, refused }, isOnly }: { of: Credential; isOnly: boolean }) {
  const { choose } = useChoices();
  const [isWhole, setWhole] = useState(false);
  const busy = targets.filter((target) => !isIdle(target));
  const idle = targets.length - busy.length;
  const isFolded = idle >= FOLDED && !isWhole;
  return (
    <>
      {!isOnly && <h3>Credential {name}</h3>}
      {refused && (
        <Note kind="danger">
          <p>
            {name} refuses the credential of this gateway
            {refused.out_since !== null && (
              <>
                {' '}
                since <Time at={refused.out_since} seconds brief />
              </>
            )}
            . Set a valid one in the configuration.
          </p>
        </Note>
      )}
      {idle >= FOLDED && (
        <p className="hint">
          <button type="button" className="link" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? 'Hide' : 'Show'} {count(idle)} models without calls
          </button>
        </p>
      )}
      {(busy.length > 0 || !isFolded) && (
        <Table
          label={`Models at ${name}`}
          columns={refused ? COLUMNS_OF_REFUSED : COLUMNS}
          rows={isFolded ? busy : targets}
          rowKey={nameOf}
          rowName={({ model }) => model}
          onOpen={(target) => choose({ target: nameOf(target) }, 'replace')}
        />
      )}
    </>
  );
}

const STATE: Column<Target> = {
  id: 'state',
  title: 'State',
  phone: 'figure',
  cell: (target) => <State of={target} />,
};
const SHARES = (['hour', 'day'] as const).map(
  (span): Column<Target> => ({
    id: span,
    title: span === 'hour' ? 'Failed, 1 h' : 'Failed, 24 h',
    kind: 'number',
    cell: ({ [span]: { attempts, failed } }) =>
      attempts === 0 ? '–' : `${count(failed)} of ${count(attempts)} (${percent(failed, attempts)})`,
  }),
);
const COLUMNS: readonly Column<Target>[] = [
  { id: 'model', title: 'Model', cell: ({ model }) => model },
  STATE,
  ...SHARES,
  { id: 'calls', title: 'Calls today', kind: 'number', from: 'wide', cell: ({ calls }) => count(calls) },
  {
    id: 'latency',
    title: 'Latency',
    kind: 'number',
    from: 'wide',
    cell: ({ latency_ms }) => (latency_ms === null ? '–' : callDuration(latency_ms)),
  },
  {
    id: 'error',
    title: 'Last error',
    phone: 'hidden',
    cell: ({ last_error, last_error_at }) =>
      last_error === null || last_error_at === null ? (
        '–'
      ) : (
        <>
          <Time at={last_error_at} brief />
          {isRecent(last_error_at) && <span className="sub clip">{last_error}</span>}
        </>
      ),
  },
];
/** No model of a refused credential is up, even if none of its calls failed yet. */
const COLUMNS_OF_REFUSED = COLUMNS.map((column) =>
  column === STATE ? { ...STATE, cell: (target: Target) => <State of={target} isRefused /> } : column,
);

const DAY_MS = 86_400_000;

/** True if an error is of the last 24 hours; an older one is no news. */
function isRecent(at: string): boolean {
  return Date.now() - Date.parse(at) < DAY_MS;
}

function State({ of: { state, cause, out_until }, isRefused = false }: { of: Target; isRefused?: boolean }) {
  if (cause === 'credential') return <Badge kind="bad">Credential refused</Badge>;
  if (state === 'up') {
    return isRefused ? <Badge kind="warning">Same credential</Badge> : <Badge kind="good">Up</Badge>;
  }
  if (out_until === null) return <Badge kind="bad">Paused</Badge>;
  return (
    <Badge kind="bad">
      Paused until <Time at={out_until} seconds brief />
    </Badge>
  );
}

/** Why a target is out, in words. */
const CAUSES: Readonly<Record<NonNullable<Target['cause']>, string>> = {
  connection: 'It could not be reached',
  tls: 'Its TLS certificate was not accepted',
  timeout: 'It did not answer in time',
  credential: 'It refuses the credential of this gateway',
  rate_limit: 'It limits the rate of calls',
  error: 'It had errors',
};

function TargetPanel({ of: target, onClose }: { of: Target; onClose: () => void }) {
  const { model, cause, out_since, out_until, last_error, last_error_at, latency_ms } = target;
  return (
    <Panel
      title={`${model} at ${target.target}`}
      onClose={onClose}
      actions={
        <PageLink
          to="requests"
          choices={{ upstream: target.target.replace(/#\d+$/, ''), model, result: 'failed' }}
        >
          Failed requests
        </PageLink>
      }
    >
      <Facts>
        <Fact name="State">
          <State of={target} />
        </Fact>
        {cause !== null && <Fact name="Cause">{CAUSES[cause]}</Fact>}
        {out_since !== null && (
          <Fact name="Since">
            <Time at={out_since} seconds />
          </Fact>
        )}
        {out_until !== null && (
          <Fact name="Tried again">
            <Time at={out_until} seconds />
          </Fact>
        )}
        <Fact name="Last hour">{share(target.hour)}</Fact>
        <Fact name="Last 24 hours">{share(target.day)}</Fact>
        <Fact name="Today (UTC)">{callsInWords(target.calls)}</Fact>
        <Fact name="Latency">{latency_ms === null ? 'unknown' : callDuration(latency_ms)}</Fact>
        {last_error_at !== null && (
          <Fact name="Last error">
            <Time at={last_error_at} seconds />
          </Fact>
        )}
      </Facts>
      {last_error !== null && (
        <div className="snippet">
          {/* The keyboard scrolls it. */}
          <pre className="error-text" {...{ role: 'region', tabIndex: 0, 'aria-label': 'Last error' }}>
            {last_error}
          </pre>
        </div>
      )}
    </Panel>
  );
}
