import { useState } from 'preact/hooks';
import type { KeyView } from '../../../domain/key-view.ts';
import { readAccount } from '../api/account.ts';
import { listKeys } from '../api/keys.ts';
import { useLoad } from '../api/use-load.ts';
import { Empty } from '../ui/empty.tsx';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { isExpired } from './key-status.tsx';
import { KeyTable } from './key-table.tsx';
import { ReadOnlyNote } from './read-only-note.tsx';

type Shows = 'all' | 'active' | 'inactive';

/** Every key of the account, to search, create and open. */
export function Keys() {
  const loaded = useLoad(async (signal) => {
    const [keys, account] = await Promise.all([listKeys(signal), readAccount({ signal })]);
    return { keys, manages: account.webhook_secret !== undefined };
  });
  const [search, setSearch] = useState('');
  const [shows, setShows] = useState<Shows>('all');
  const manages = loaded.data?.manages ?? false;
  return (
    <PageFrame
      title="Keys"
      actions={
        manages && (
          <a class="button primary" href="#/keys/new">
            Create key
          </a>
        )
      }
    >
      <Shown of={loaded}>
        {({ keys }) => {
          const found = keys.filter((key) => isFound(key, search, shows)).toReversed();
          return (
            <>
              {!manages && <ReadOnlyNote />}
              <search class="filters">
                <label>
                  <span>Search</span>
                  <input
                    type="search"
                    placeholder="Name, note or prefix"
                    value={search}
                    onInput={(event) => setSearch(event.currentTarget.value)}
                  />
                </label>
                <label>
                  <span>Status</span>
                  <select value={shows} onChange={(event) => setShows(event.currentTarget.value as Shows)}>
                    <option value="all">All</option>
                    <option value="active">Active</option>
                    <option value="inactive">Inactive or expired</option>
                  </select>
                </label>
                <p class="hint" role="status">
                  {found.length} of {keys.length} {keys.length === 1 ? 'key' : 'keys'}
                </p>
              </search>
              {found.length === 0 ? (
                <Empty title="No key is like that">
                  <p>Search for something else, or show all.</p>
                </Empty>
              ) : (
                <KeyTable keys={found} />
              )}
            </>
          );
        }}
      </Shown>
    </PageFrame>
  );
}

function isFound(key: KeyView, search: string, shows: Shows): boolean {
  const isUsable = key.is_active && !isExpired(key);
  if (shows !== 'all' && isUsable !== (shows === 'active')) return false;
  const text = `${key.name}\n${key.description}\n${key.prefix}`.toLowerCase();
  return text.includes(search.trim().toLowerCase());
}
