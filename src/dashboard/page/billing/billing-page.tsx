import {
  type Base,
  LEDGER_FILTERS,
  type LedgerFilter,
  OWN,
  readKeys,
  readLedger,
  readUsage,
} from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { choose, query } from '../route.ts';
import { manages } from '../session/session.ts';
import { Empty } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { LedgerFilters } from './billing-filters.tsx';
import { EntryTable } from './entry-table.tsx';
import { Export } from './export.tsx';

const PAGE = 50;

/** Page of the ledger: every change of the balance, newest first. */
export default function BillingPage() {
  return (
    <PageFrame title="Billing">
      <Entries of={OWN} />
    </PageFrame>
  );
}

/** Ledger of the account at the path `of`, with the filters that are in the address. */
export function Entries({ of: base }: { of: Base }) {
  const filter = Object.fromEntries(
    LEDGER_FILTERS.map((name) => [name, query.value.get(name) ?? '']),
  ) as LedgerFilter;
  const before = cursors().at(-1) ?? '';
  const names = useLoad(async (signal) => {
    const [keys, usage] = await Promise.all([readKeys(base, signal), readUsage(base, 'model', signal)]);
    return { keys, models: usage.rows.flatMap(({ model }) => model ?? []) };
  });
  const page = useLoad(
    (signal) => readLedger(base, filter, before, PAGE, signal),
    JSON.stringify([filter, before]),
  );
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const keys = names.data?.keys;
  /** True where the whole account is seen, and not one key only. */
  const hasAll = base !== OWN || manages();
  return (
    <>
      <LedgerFilters
        filter={filter}
        keys={keys}
        models={names.data?.models ?? []}
        onFilter={(changes, how) => choose({ ...changes, ...FIRST_PAGE }, how)}
      />
      <div className="actions export">
        <Export of={base} filter={filter} />
        {isFiltered && (
          <button
            type="button"
            onClick={() =>
              choose({ ...FIRST_PAGE, ...Object.fromEntries(LEDGER_FILTERS.map((name) => [name, ''])) })
            }
          >
            Show all
          </button>
        )}
      </div>
      <Shown of={page}>
        {({ entries, next }) => (
          <Paged label="Pages of the ledger" back="Newer" on="Older" next={next} of={page}>
            {entries.length === 0 ? (
              <Empty title={isFiltered ? 'No results' : 'The ledger is empty'}>
                <p>
                  {isFiltered
                    ? 'Change the filters or show all entries.'
                    : `${hasAll ? 'Top-ups and calls' : 'Calls with this key'} appear here.`}
                </p>
              </Empty>
            ) : (
              <EntryTable entries={entries} keys={keys ?? []} hasBalance={hasAll} />
            )}
          </Paged>
        )}
      </Shown>
    </>
  );
}
