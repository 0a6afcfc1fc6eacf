import {
  type Base,
  exportLedger,
  LEDGER_FILTERS,
  type LedgerFilter,
  OWN,
  readAccount,
  readKeys,
  readLedger,
  readUsage,
} from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { Figure } from '../home/figures.tsx';
import { choose, query } from '../route.ts';
import { manages } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { Empty } from '../ui/elements.tsx';
import { Export } from '../ui/export.tsx';
import { filtersIn, isFiltered, ShowAll } from '../ui/filters.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { LedgerFilters } from './billing-filters.tsx';
import { EntryDetail } from './entry-detail.tsx';
import { EntryTable } from './entry-table.tsx';

const PAGE = 50;
/** Parameter of the address with the id of the entry that is open. */
const OPEN = 'entry';
const NO_FILTER = Object.fromEntries(LEDGER_FILTERS.map((name) => [name, ''])) as LedgerFilter;

/** The balance, and the ledger: every change of it, newest first. */
export default function BillingPage() {
  return (
    <PageFrame title="Billing">
      <Balance />
      <Entries of={OWN} />
    </PageFrame>
  );
}

/** The balance, what calls in flight hold of it, and the way to the top-ups. */
function Balance() {
  // Where it cannot be read, neither can the ledger below, which says so.
  const { data } = useLoad((signal) => readAccount({ signal }));
  return (
    <dl className="figures">
      <Figure name="Balance" note="Your operator tops it up.">
        {data ? <Amount of={data.credits_balance} /> : '–'}
      </Figure>
      <Figure name="Held" note="reserved for calls in flight">
        {data ? <Amount of={data.credits_held} /> : '–'}
      </Figure>
      <Figure name="Latest top-up" note={<a href="#/billing?type=top_up">Show all top-ups</a>}>
        <TopUps />
      </Figure>
    </dl>
  );
}

/** The latest top-up. */
function TopUps() {
  const { data } = useLoad((signal) => readLedger(OWN, { ...NO_FILTER, type: 'top_up' }, '', 1, signal));
  const latest = data?.entries[0];
  if (data === undefined) return '–';
  return latest ? <Amount of={latest.credits} isChange /> : 'none';
}

/** Ledger of the account at the path `of`, with the filters that are in the address. */
export function Entries({ of: base }: { of: Base }) {
  const filter = filtersIn(LEDGER_FILTERS);
  const before = cursors().at(-1) ?? '';
  const names = useLoad(async (signal) => {
    const [keys, usage] = await Promise.all([readKeys(base, signal), readUsage(base, 'model', signal)]);
    return { keys, models: usage.rows.flatMap(({ model }) => model ?? []) };
  });
  const page = useLoad(
    (signal) => readLedger(base, filter, before, PAGE, signal),
    JSON.stringify([filter, before]),
  );
  const keys = names.data?.keys;
  /** True if the whole account is seen, and not one key only. */
  const hasAll = base !== OWN || manages();
  return (
    <>
      <div className="toolbar">
        <LedgerFilters
          filter={filter}
          keys={keys}
          models={names.data?.models ?? []}
          onFilter={(changes, how) => choose({ ...changes, ...FIRST_PAGE }, how)}
        />
        <div className="actions">
          <ShowAll filters={filter} />
          <Export
            file="ledger"
            formats={['csv', 'jsonl']}
            read={(format) => exportLedger(base, filter, format)}
          />
        </div>
      </div>
      <Shown of={page}>
        {({ entries, next }) => {
          const opened = entries.find(({ id }) => id === query.value.get(OPEN));
          return (
            <Paged label="Pages of the ledger" back="Newer" on="Older" next={next} of={page}>
              {entries.length === 0 ? (
                <Empty title={isFiltered(filter) ? 'No results' : 'The ledger is empty'}>
                  <p>
                    {isFiltered(filter)
                      ? 'Change the filters or show all entries.'
                      : `${hasAll ? 'Top-ups and calls' : 'Calls with this key'} appear here.`}
                  </p>
                </Empty>
              ) : (
                <EntryTable
                  entries={entries}
                  keys={keys ?? []}
                  hasBalance={hasAll}
                  onOpen={({ id }) => choose({ [OPEN]: id })}
                />
              )}
              {opened && (
                <EntryDetail
                  key={opened.id}
                  of={opened}
                  keys={keys ?? []}
                  onClose={() => choose({ [OPEN]: '' })}
                />
              )}
            </Paged>
          );
        }}
      </Shown>
    </>
  );
}
