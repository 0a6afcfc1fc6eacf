import type { CallView, OperatorCallView } from '../../../api/calls/call-view.ts';
import type { CallSummaryView, OperatorCallSummaryView } from '../../../api/calls/summary-view.ts';
import type { UsageView } from '../../../api/ledger/entry-view.ts';
import { count } from '../format/credits.ts';
import { callDuration } from '../format/duration.ts';
import type { Scope } from '../session/scope.ts';
import { Amount } from '../ui/amount.tsx';
import type { Choices } from '../ui/choices.ts';
import { Badge, Time } from '../ui/elements.tsx';
import type { Column } from '../ui/table.tsx';

/** A call in a list; those of the operator have more. */
export type ListedCall = CallView & Partial<Omit<OperatorCallView, keyof CallView>>;
export interface CallPage {
  readonly calls: readonly ListedCall[];
  readonly next: string | null;
}

/** Sums of calls; those of the operator have more. */
export type Summary = CallSummaryView & Partial<OperatorCallSummaryView>;

type Outcome = NonNullable<CallView['outcome']>;

/** How calls end, in words. */
export const OUTCOME_NAMES: Readonly<Record<Outcome, string>> = {
  complete: 'Complete',
  refused: 'Refused',
  client_left: 'Client disconnected',
  upstream_broke: 'Stream broken',
  upstream_error: 'Provider error',
  upstream_unreachable: 'Provider unreachable',
  timeout: 'Timed out',
};

/** Columns of the list, for the scope that shows it. */
export function callColumns({ kind }: Scope): readonly Column<ListedCall>[] {
  const isOfOperator = kind !== 'own';
  const columns: readonly (Column<ListedCall> | false)[] = [
    { id: 'time', title: 'Time', cell: (call) => <CallTime of={call} /> },
    kind === 'operator' && {
      id: 'account',
      title: 'Account',
      cell: ({ account_email, account_id }) => <Clip>{account_email ?? `Account ${account_id}`}</Clip>,
    },
    { id: 'key', title: 'Key', cell: (call) => <Clip>{keyWords(call)}</Clip> },
    kind !== 'operator' && {
      id: 'member',
      title: 'Member',
      from: 'widest',
      cell: ({ member }) => <Clip>{member?.name ?? '–'}</Clip>,
    },
    { id: 'model', title: 'Model', cell: ({ model }) => <Clip>{model ?? '–'}</Clip> },
    { id: 'status', title: 'Status', cell: (call) => <CallStatus of={call} /> },
    isOfOperator && {
      id: 'provider',
      title: 'Provider',
      from: 'widest',
      phone: 'hidden',
      cell: ({ upstream }) => <Clip>{upstream ?? '–'}</Clip>,
    },
    {
      id: 'tokens',
      title: 'Tokens',
      kind: 'number',
      from: 'widest',
      phone: 'hidden',
      cell: ({ usage }) => count(tokensOf(usage)),
    },
    {
      id: 'charge',
      title: 'Charge',
      kind: 'number',
      phone: 'figure',
      cell: ({ charge }) => <Amount of={charge} isInRow />,
    },
    {
      id: 'duration',
      title: 'Duration',
      kind: 'number',
      phone: 'hidden',
      cell: ({ duration_ms }) => (duration_ms === null ? '–' : callDuration(duration_ms)),
    },
  ];
  return columns.filter((column) => column !== false);
}

function CallTime({ of: { created_at } }: { of: ListedCall }) {
  return (
    <span className="call-time">
      <Time at={created_at} seconds brief />
    </span>
  );
}

/** A text on one line of a row; the panel of the row has all of it. */
function Clip({ children }: { children: string }) {
  return <div className="call-clip">{children}</div>;
}

/** Name of the key of a call, also of one that the book no longer has. */
export function keyWords({ key_id, key_name }: Pick<CallView, 'key_id' | 'key_name'>): string {
  return key_name ?? (key_id === null ? '–' : `Key ${key_id}`);
}

/** Tokens of all modalities: uncached and cached input, cache writes and output. */
function tokensOf(usage: UsageView): number {
  return Object.entries(usage).reduce(
    (sum, [unit, amount]) => sum + (unit.endsWith('_tokens') ? amount : 0),
    0,
  );
}

/** The status with the error code, and the number of calls that the line stands for. */
export function CallStatus({ of: { status, outcome, code, repeated } }: { of: ListedCall }) {
  // A status of success says nothing of how the answer ended.
  const isBroken = outcome !== null && outcome !== 'complete' && status !== null && status < 400;
  const kind = outcome === 'complete' ? 'good' : outcome === 'refused' ? 'warning' : 'bad';
  const words =
    code ?? (isBroken || outcome === 'complete' || outcome === null ? '' : OUTCOME_NAMES[outcome]);
  return (
    <span className="call-status">
      <Badge kind={kind}>{isBroken ? OUTCOME_NAMES[outcome] : (status ?? '–')}</Badge>
      {words && ` ${words}`}
      {repeated > 1 && ` × ${count(repeated)}`}
    </span>
  );
}

type Group = Summary['groups'][number];

export function groupKey({ code, endpoint, model }: Group): string {
  return JSON.stringify([code, endpoint, model]);
}

/** Filters under which the list shows the calls of a group, as far as they are known. */
export function groupFilter({
  code,
  endpoint,
  model,
}: {
  readonly code: string | null;
  readonly endpoint: string | null;
  readonly model: string | null;
}): Choices {
  return { code: code ?? '', endpoint: endpoint ?? '', model: model ?? '' };
}

export const GROUP_COLUMNS: readonly Column<Group>[] = [
  { id: 'code', title: 'Error', sort: ({ code }) => code, cell: ({ code }) => code },
  {
    id: 'endpoint',
    title: 'Endpoint',
    sort: ({ endpoint }) => endpoint ?? '',
    cell: ({ endpoint }) => <Clip>{endpoint ?? '–'}</Clip>,
  },
  {
    id: 'model',
    title: 'Model',
    sort: ({ model }) => model ?? '',
    cell: ({ model }) => <Clip>{model ?? '–'}</Clip>,
  },
  {
    id: 'count',
    title: 'Count',
    kind: 'number',
    phone: 'figure',
    sort: ({ count }) => count,
    cell: ({ count: calls }) => count(calls),
  },
  {
    id: 'first',
    title: 'First',
    sort: ({ first_at }) => first_at,
    cell: ({ first_at }) => <Time at={first_at} brief />,
  },
  {
    id: 'last',
    title: 'Last',
    sort: ({ last_at }) => last_at,
    cell: ({ last_at }) => <Time at={last_at} brief />,
  },
  { id: 'keys', title: 'Keys', kind: 'number', sort: ({ keys }) => keys, cell: ({ keys }) => count(keys) },
];
