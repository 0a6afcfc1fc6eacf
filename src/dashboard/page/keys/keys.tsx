import { useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { type Base, OWN, readKeys } from '../api/account.ts';
import { type Refusals, readRefusals } from '../api/key-usage.ts';
import { useLoad } from '../api/use-load.ts';
import { isUnused, UNUSED_AFTER_DAYS } from '../format/duration.ts';
import { choose, query } from '../route.ts';
import { may, mayCreateKeys } from '../session/session.ts';
import { Empty } from '../ui/elements.tsx';
import { Field } from '../ui/field.tsx';
import { Choice } from '../ui/filters.tsx';
import { PageFrame } from '../ui/page.tsx';
import { cursors, FIRST_PAGE, Paged } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { sortingOf } from '../ui/sorting.ts';
import { DeactivateMany, isSelectable } from './deactivate-many.tsx';
import { isExpired, KEY_ORDERS, LARGEST_FIRST, NEWEST_FIRST, sortedKeys } from './key-order.ts';
import { type KeyActions, KeyTable } from './key-table.tsx';

const PAGE = 100;

/** Choices of the filter by use. */
const USES = [
  ['yes', `In the last ${UNUSED_AFTER_DAYS} days`],
  ['no', `Not for ${UNUSED_AFTER_DAYS} days, or never`],
] as const;

/** Page of all keys of the account, to search, create and open them. */
export function Keys() {
  const loaded = useLoad((signal) => readKeys(OWN, signal));
  return (
    <PageFrame
      title="Keys"
      actions={
        mayCreateKeys() && (
          <a className="button primary" href="#/keys/new">
            Create key
          </a>
        )
      }
    >
      <Shown of={loaded}>{(keys) => <KeyList of={OWN} keys={keys} onEnded={loaded.reload} />}</Shown>
    </PageFrame>
  );
}

/**
 * List of keys, newest first unless sorted otherwise; order, search, filters and page are in the address. Without
 * `actions`, the owner's: keys can be selected.
 */
export function KeyList({
  of: base,
  keys,
  actions,
  onEnded,
}: {
  of: Base;
  keys: readonly KeyView[];
  actions?: KeyActions;
  /** Called when a key has changed, as when its previous value has ended. */
  onEnded: () => void;
}) {
  const search = query.value.get('search') ?? '';
  const shows = query.value.get('status') ?? 'all';
  const use = query.value.get('use') ?? '';
  const refusals = useLoad((signal) => readRefusals(base, signal), base).data;
  const sorting = sortingOf(query.value.get('sort') ?? '', KEY_ORDERS, NEWEST_FIRST, LARGEST_FIRST, (sort) =>
    choose({ ...FIRST_PAGE, sort }),
  );
  const matching = keys.filter((key) => isFound(key, search, shows) && isOfUse(key, use, refusals));
  const found = sortedKeys(matching, sorting.by, sorting.isDown);
  const at = Number(cursors().at(-1)) || 0;
  const next = at + PAGE < found.length ? String(at + PAGE) : null;
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set());
  // Only keys that are found: nobody deactivates what a filter hides.
  const selectable = actions === undefined && may('change keys') ? found.filter(isSelectable) : [];
  const selected = selectable.filter(({ id }) => marked.has(id));
  return (
    <>
      <search className="filters">
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
        <Choice
          label="Used"
          none="All"
          value={use}
          choices={USES}
          onValue={(value) => choose({ use: value, ...FIRST_PAGE })}
        />
        <span className="phone-only">
          <Field name="sort" label="Sort by">
            {(attributes) => (
              <select
                {...attributes}
                value={sorting.by}
                onChange={(event) => sorting.choose(event.currentTarget.value)}
              >
                {Object.entries(KEY_ORDERS).map(([name, word]) => (
                  <option key={word} value={word}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </span>
        <p className="hint" role="status">
          {found.length} of {keys.length} {keys.length === 1 ? 'key' : 'keys'}
        </p>
        {selectable.length > 1 && selected.length < selectable.length && (
          <button
            type="button"
            className="link"
            onClick={() => setMarked(new Set(selectable.map(({ id }) => id)))}
          >
            Select all {selectable.length}
          </button>
        )}
      </search>
      {selected.length > 0 && (
        <DeactivateMany keys={selected} onClear={() => setMarked(new Set())} onChanged={onEnded} />
      )}
      {found.length === 0 ? (
        <Empty title={keys.length === 0 ? 'No key yet' : 'No results'}>
          {keys.length > 0 && (
            <>
              <p>Change the search or show all keys.</p>
              <button
                type="button"
                className="link"
                onClick={() => choose({ search: '', status: '', use: '', ...FIRST_PAGE })}
              >
                Show all keys
              </button>
            </>
          )}
        </Empty>
      ) : (
        <Paged
          label="Pages of keys"
          back="Previous"
          on="Next"
          next={next}
          of={{ isLoading: false, subject: String(at) }}
        >
          <KeyTable
            keys={found.slice(at, at + PAGE)}
            refusals={refusals}
            sorting={sorting}
            actions={actions}
            selection={selectable.length > 0 ? { marked, onMarked: setMarked } : undefined}
            onEnded={onEnded}
          />
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

/** A key whose calls are refused is in use, too. */
function isOfUse(key: KeyView, use: string, refusals: Refusals | undefined): boolean {
  if (use !== 'yes' && use !== 'no') return true;
  const isIdle = isUnused(key.last_used_at) && !refusals?.has(key.id);
  return isIdle === (use === 'no');
}
