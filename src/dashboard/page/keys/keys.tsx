import { Button } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { KeyListView, KeyView } from '../../../api/keys/key-view.ts';
import type { MemberView } from '../../../api/people/member-view.ts';
import { KEY_STATUSES } from '../../../domain/key-status.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { STATUSES } from '../format/words.ts';
import { WhatIsLeft } from '../limits/what-is-left.tsx';
import { type Scope, useScope } from '../session/scope.ts';
import { type Choices, useChoices } from '../ui/choices.ts';
import { Card, Empty } from '../ui/elements.tsx';
import { Choice, ClearFilters, Search } from '../ui/filters.tsx';
import { PageLink } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Paged, useCursor } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { keyColumns } from './columns.tsx';
import { DeactivateMany } from './deactivate.tsx';
import { isOwnKey } from './key-api.ts';
import '../style/keys.css';

/** Keys of a page of the list, which is sorted within itself. */
const PAGE = 100;
const FILTERS = ['search', 'status', 'person_id'];

/** Page of the keys of an account, or of the member's own. */
export default function KeysPage() {
  const scope = useScope();
  const isOwn = scope.reach('read keys') === 'own';
  const { membership } = scope;
  return (
    <Page
      title={isOwn ? 'My keys' : 'Keys'}
      actions={
        mayCreate(scope) && (
          <Button component={PageLink} to="keys/new">
            Create key
          </Button>
        )
      }
    >
      {isOwn && membership && membership.limits.length > 0 && (
        <Card title="What is left of your limits">
          <WhatIsLeft limits={membership.limits} yours={['member']} />
        </Card>
      )}
      <KeyList />
    </Page>
  );
}

/** True if the session may create keys: members can be kept from it. */
function mayCreate({ can, reach, membership }: Scope): boolean {
  if (!can('change keys')) return false;
  return reach('change keys') === 'all' || membership?.can_create_keys !== false;
}

function KeyList() {
  const scope = useScope();
  const { choices } = useChoices();
  const cursor = useCursor();
  const query = useQuery({
    ...read<KeyListView>(scope, `${scope.keysApi}?${queryOf(choices, cursor)}`),
    placeholderData: keepPreviousData,
  });
  // How many there are in all is known if the unfiltered list was shown, and has one page.
  const all = useQuery({
    ...read<KeyListView>(scope, `${scope.keysApi}?${queryOf({}, '')}`),
    enabled: false,
  }).data;
  const [marked, setMarked] = useState<ReadonlySet<string | number>>(new Set());
  const isFiltered = FILTERS.some((name) => choices[name]);
  return (
    <>
      <search className="filters">
        <Search name="search" label="Search" placeholder="Name, note or prefix" />
        <Choice
          name="status"
          label="Status"
          none="All"
          values={KEY_STATUSES.map((status) => [status, STATUSES[status][0]])}
        />
        {scope.reach('read keys') === 'all' && scope.can('read members') && <OwnerChoice />}
        <ClearFilters names={FILTERS} />
      </search>
      <Shown of={query}>
        {({ keys, next = null }) => {
          // Only keys that are shown: nobody deactivates what a filter hides.
          const selected = keys.filter((key) => marked.has(key.id) && isSelectable(scope, key));
          const found = foundWords(keys.length, next !== null, isFiltered, all);
          return (
            <>
              <p className="hint found">
                {found}
                {next !== null && '. Sorting applies to the keys on this page.'}
              </p>
              {selected.length > 0 && <DeactivateMany keys={selected} onClear={() => setMarked(new Set())} />}
              <Paged
                label="Pages of keys"
                words={['Previous', 'Next']}
                next={next}
                isLoading={query.isFetching}
              >
                <Table
                  label="Keys"
                  columns={keyColumns(scope)}
                  rows={keys}
                  rowKey={({ id }) => id}
                  rowName={({ name }) => name}
                  initialSort="name"
                  found={found}
                  empty={<NoKeys isFiltered={isFiltered} />}
                  {...(scope.can('change keys') && {
                    selection: {
                      chosen: marked,
                      can: (key: KeyView) => isSelectable(scope, key),
                      toggle: ({ id }: KeyView) => setMarked(toggled(marked, id)),
                    },
                  })}
                />
              </Paged>
            </>
          );
        }}
      </Shown>
    </>
  );
}

function OwnerChoice() {
  const scope = useScope();
  const members =
    useQuery(read<{ members: MemberView[] }>(scope, `${scope.api}members/`)).data?.members ?? [];
  return (
    <Choice
      name="person_id"
      label="Owner"
      none="Anyone"
      values={members.map(({ person }) => [String(person.id), person.name || person.email])}
    />
  );
}

function NoKeys({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No results">Change the filters, or clear them.</Empty>;
  return (
    <Empty title="No keys yet">
      <p>Create a key for each app or person, so that each has its own limits and its own line in Usage.</p>
    </Empty>
  );
}

/** Keys that can be selected: active ones, but not the session's, whose page asks about the sign-out. */
function isSelectable(scope: Scope, key: KeyView): boolean {
  const isLocked = key.restrictions_locked && scope.reach('change keys') === 'own';
  return key.is_active && !isOwnKey(scope, key) && !isLocked;
}

function toggled(ids: ReadonlySet<string | number>, id: number): ReadonlySet<string | number> {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** Parameters of the list; a search for a key's value looks for its prefix, and never sends the value. */
function queryOf({ search = '', status, person_id }: Choices, after: string): string {
  const text = search.trim().replace(/^sk-tg-(.{0,4}).*$/, '$1');
  const given = { search: text, status, person_id, after, limit: String(PAGE) };
  return new URLSearchParams(
    Object.entries(given).filter((entry): entry is [string, string] => Boolean(entry[1])),
  ).toString();
}

/** `3 of 31 keys`, `100 keys on this page, and more`. */
function foundWords(
  shown: number,
  isPaged: boolean,
  isFiltered: boolean,
  all: KeyListView | undefined,
): string {
  const total = isFiltered && all && !all.next ? all.keys.length : undefined;
  const words = (amount: number) => `${count(amount)} ${amount === 1 ? 'key' : 'keys'}`;
  if (isPaged) return `${words(shown)} on this page, and more`;
  return total === undefined ? words(shown) : `${count(shown)} of ${words(total)}`;
}
