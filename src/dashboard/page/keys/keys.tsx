import type { KeyView } from '../../../api/views/key-view.ts';
import { OWN, readKeys } from '../api/account.ts';
import { useLoad } from '../api/use-load.ts';
import { choose, query } from '../route.ts';
import { Empty } from '../ui/elements.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { isExpired } from './key-label.tsx';
import { KeyTable } from './key-table.tsx';

const PAGE = 100;

/** Page of all keys of the account, to search, create and open them. */
export function Keys() {
  const loaded = useLoad((signal) => readKeys(OWN, signal));
  return (
    <PageFrame
      title="Keys"
      actions={
        <a class="button primary" href="#/keys/new">
          Create key
        </a>
      }
    >
      <Shown of={loaded}>{(keys) => <KeyList keys={keys} />}</Shown>
    </PageFrame>
  );
}

/** List of keys, newest first; the search and the page are in the address. */
export function KeyList({
  keys,
  onSwitch,
}: {
  keys: readonly KeyView[];
  /** Opens the dialog that switches a key off or on; for the operator, who has no page of one key. */
  onSwitch?: (key: KeyView) => void;
}) {
  const search = query.value.get('search') ?? '';
  const shows = query.value.get('status') ?? 'all';
  const found = keys.filter((key) => isFound(key, search, shows)).toReversed();
  const at = Number(cursors().at(-1)) || 0;
  const next = at + PAGE < found.length ? String(at + PAGE) : null;
  return (
    <>
      <search class="filters">
        <label>
          <span>Search</span>
          <input
            type="search"
            placeholder="Name, note or prefix"
            value={search}
            onInput={(event) => choose({ search: event.currentTarget.value, ...FIRST_PAGE }, 'replace')}
          />
        </label>
        <label>
          <span>Status</span>
          <select
            value={shows}
            onChange={(event) => {
              const { value } = event.currentTarget;
              choose({ status: value === 'all' ? '' : value, ...FIRST_PAGE });
            }}
          >
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
        <Empty title={keys.length === 0 ? 'No key yet' : 'No key is like that'}>
          {keys.length > 0 && <p>Search for something else, or show all.</p>}
        </Empty>
      ) : (
        <Paged
          label="Pages of keys"
          back="Previous"
          on="Next"
          next={next}
          of={{ isLoading: false, subject: String(at) }}
        >
          <KeyTable keys={found.slice(at, at + PAGE)} {...(onSwitch ? { onSwitch } : {})} />
        </Paged>
      )}
    </>
  );
}

function isFound(key: KeyView, search: string, shows: string): boolean {
  const isUsable = key.is_active && !isExpired(key);
  if (shows !== 'all' && isUsable !== (shows === 'active')) return false;
  const text = `${key.name}\n${key.description}\n${key.prefix}`.toLowerCase();
  return text.includes(search.trim().toLowerCase());
}
