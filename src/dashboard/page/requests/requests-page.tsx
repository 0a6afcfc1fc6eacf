import { type Base, OWN, readKeys } from '../api/account.ts';
import {
  CALL_FILTERS,
  type CallsBase,
  exportCalls,
  type ListedCall,
  readCall,
  readCalls,
} from '../api/calls.ts';
import { listAccounts } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { usePolling } from '../api/use-polling.ts';
import type { PageProps } from '../page-props.ts';
import { choose, query } from '../route.ts';
import { Empty } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { filtersIn, isFiltered, ShowAll } from '../ui/filters.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { RangePicker, rangeOf, usageRange } from '../ui/range-picker.tsx';
import { Shown } from '../ui/shown.tsx';
import { SidePanel } from '../ui/side-panel.tsx';
import { Latency } from './latency.tsx';
import { RequestBars } from './request-bars.tsx';
import { RequestDetail } from './request-detail.tsx';
import { RequestFilters } from './request-filters.tsx';
import { RequestTable } from './request-table.tsx';

const PAGE = 50;
const RANGE = '7d';
/** Accounts whose e-mail addresses the operator's list shows; those of others are shown by their numbers. */
const MOST_ACCOUNTS = 1_000;
/** Parameter of the address with the id of the request whose details are open. */
const OPEN = 'request';
/** Parameter of the address that is `on` where the list is live. */
const LIVE = 'live';
const LIVE_MS = 2_000;

/** Page of every call of the account, refused ones too; the operator's shows those of all accounts. */
export default function RequestsPage({ role }: PageProps) {
  return (
    <PageFrame title="Requests">
      <Calls of={role === 'operator' ? '/api/admin/' : OWN} />
    </PageFrame>
  );
}

/** Calls at the path `of`, with the filters that are in the address. */
export function Calls({ of: base }: { of: CallsBase }) {
  const chosen = filtersIn(CALL_FILTERS);
  const range = rangeOf(query.value, RANGE);
  // The last 24 hours are those before the answer, so that they change with every look.
  const filter = { ...chosen, from: range.from, to: range.name === '24h' ? '' : range.to };
  const before = cursors().at(-1) ?? '';
  const names = useLoad(async (signal) => {
    if (base !== '/api/admin/') return { keys: await readKeys(base as Base, signal), emails: undefined };
    const { accounts } = await listAccounts('', MOST_ACCOUNTS, { signal });
    return { keys: [], emails: new Map(accounts.map(({ id, email }) => [id, email])) };
  });
  const page = useLoad(
    (signal) => readCalls(base, filter, before, PAGE, signal),
    JSON.stringify([chosen, range.name, usageRange(range), before]),
  );
  const isLive = before === '' && query.value.get(LIVE) === 'on';
  usePolling(page, LIVE_MS, isLive);
  const accounts = base === '/api/admin/' ? accountsOf(page.data?.calls ?? []) : [];
  const theirs = useLoad(
    async (signal) =>
      (await Promise.all(accounts.map((id) => readKeys(`/api/admin/accounts/${id}/`, signal)))).flat(),
    accounts.join(),
  );
  const keys = (base === '/api/admin/' ? theirs.data : names.data?.keys) ?? [];
  return (
    <>
      <div className="toolbar">
        <RangePicker fallback={RANGE} also={FIRST_PAGE} />
        <div className="actions">
          <ShowAll filters={chosen} />
          {before === '' && <Live isOn={isLive} />}
          <Export file="calls" read={() => exportCalls(base, filter)} />
        </div>
      </div>
      <RequestBars of={base} range={range} keyId={chosen.key_id} />
      {['', 'ok'].includes(chosen.result) && (
        <Latency
          of={base}
          filter={filter}
          subject={JSON.stringify([chosen, range.name, usageRange(range)])}
        />
      )}
      <RequestFilters
        filter={filter}
        keys={base === '/api/admin/' ? undefined : keys}
        emails={names.data?.emails}
        onFilter={(changes, how) => choose({ ...changes, ...FIRST_PAGE }, how)}
      />
      <Shown of={page}>
        {({ calls, next }) => (
          <Paged label="Pages of requests" back="Newer" on="Older" next={next} of={page}>
            <Opened calls={calls} base={base} keys={keys} />
            {calls.length === 0 ? (
              <Empty title={isFiltered(chosen) ? 'No results' : 'No requests in this range'}>
                <p>
                  {isFiltered(chosen)
                    ? 'Change the filters or show all requests.'
                    : 'Calls appear here as they end, refused ones within two seconds.'}
                </p>
              </Empty>
            ) : (
              <RequestTable
                calls={calls}
                keys={keys}
                emails={names.data?.emails}
                onOpen={({ id }) => choose({ [OPEN]: id })}
              />
            )}
          </Paged>
        )}
      </Shown>
    </>
  );
}

/** The accounts that calls belong to, each once. */
function accountsOf(calls: readonly ListedCall[]): number[] {
  return [...new Set(calls.flatMap(({ account_id }) => account_id ?? []))].sort((one, other) => one - other);
}

function Opened({
  calls,
  base,
  keys,
}: {
  calls: readonly ListedCall[];
  base: CallsBase;
  keys: Parameters<typeof RequestTable>[0]['keys'];
}) {
  const id = query.value.get(OPEN) ?? '';
  const listed = calls.find((one) => one.id === id);
  const close = () => choose({ [OPEN]: '' });
  if (id === '') return null;
  if (listed) return <RequestDetail key={id} of={listed} base={base} keys={keys} onClose={close} />;
  return <Found key={id} id={id} base={base} keys={keys} onClose={close} />;
}

/** A request that the list does not show, found by its id. */
function Found({ id, base, ...rest }: Omit<Parameters<typeof RequestDetail>[0], 'of'> & { id: string }) {
  const found = useLoad((signal) => readCall(base, id, signal), id);
  if (found.data) return <RequestDetail of={found.data} base={base} {...rest} />;
  return (
    <SidePanel title="Request" onClose={rest.onClose}>
      <Shown of={found}>{() => null}</Shown>
    </SidePanel>
  );
}

/** Switch of the live list, which shows new calls as they end. */
function Live({ isOn }: { isOn: boolean }) {
  return (
    <button
      type="button"
      className="live"
      aria-pressed={isOn}
      title="Shows new calls as they end, while this tab is visible."
      onClick={() => choose({ [LIVE]: isOn ? '' : 'on' })}
    >
      Live
    </button>
  );
}
