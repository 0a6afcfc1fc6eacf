import { useState } from 'preact/hooks';
import { type LedgerFilter, readLedger, readUsage } from '../api/account.ts';
import { listKeys } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { FIRST_PAGE, Pager } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { EntryTable } from './entry-table.tsx';
import { Export } from './export.tsx';
import { LedgerFilters } from './ledger-filters.tsx';

const PAGE = 50;
const NO_FILTER: LedgerFilter = { key_id: '', type: '', model: '' };

/** Every change of the balance, newest first. */
export function Ledger() {
  const [filter, setFilter] = useState(NO_FILTER);
  const [cursors, setCursors] = useState(FIRST_PAGE);
  const before = cursors.at(-1) ?? null;
  const names = useLoad(async (signal) => {
    const [keys, usage] = await Promise.all([listKeys(signal), readUsage('model', signal)]);
    return { keys, models: usage.rows.flatMap(({ model }) => model ?? []) };
  });
  const page = useLoad(
    (signal) => readLedger(filter, before, PAGE, signal),
    JSON.stringify([filter, before]),
  );
  const isFiltered = Object.values(filter).some((value) => value !== '');
  return (
    <PageFrame title="Ledger" actions={<Export filter={filter} />}>
      <LedgerFilters
        filter={filter}
        keys={names.data?.keys ?? []}
        models={names.data?.models ?? []}
        onFilter={(changed) => {
          setFilter(changed);
          setCursors(FIRST_PAGE);
        }}
      />
      <Shown of={page}>
        {({ entries, next }) => (
          <div aria-busy={page.isLoading}>
            {entries.length === 0 ? (
              <Empty title={isFiltered ? 'No entry is like that' : 'The ledger is empty'}>
                <p>
                  {isFiltered
                    ? 'Choose others, or show all.'
                    : 'Top-ups and calls show here as soon as there are any.'}
                </p>
              </Empty>
            ) : (
              <EntryTable entries={entries} keys={names.data?.keys ?? []} />
            )}
            <Pager
              label="Pages of the ledger"
              back="Newer"
              on="Older"
              cursors={cursors}
              onCursors={setCursors}
              next={next}
              isBusy={page.isLoading}
            />
          </div>
        )}
      </Shown>
    </PageFrame>
  );
}
