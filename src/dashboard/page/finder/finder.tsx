import { Modal } from '@mantine/core';
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { SearchIcon } from '@primer/octicons-react';
import { useEffect, useState } from 'react';
import { OWN, readKeys, readModels } from '../api/account.ts';
import { listAccounts, readModelsOfOperator } from '../api/operator.ts';
import { useLoad } from '../api/use-load.ts';
import { destinations } from '../navigation.ts';
import { goTo } from '../route.ts';
import { manages, session } from '../session/session.ts';
import { leave } from '../ui/leave-guard.ts';

const MOST_ACCOUNTS = 1_000;
const SHOWN = 8;
/** What request ids look like: a word, and an underscore before the rest. */
const REQUEST_ID = /^[a-z]+_[\w-]{6,}$/i;

/** Search over everything that has a place: pages, keys, models, request ids; for the operator accounts. */
export default function Finder() {
  const [asked, setAsked] = useState('');
  const found = useLoad(read);
  // Enter takes the first result, so it opens when all of them are there; where they cannot be read, with the pages alone.
  const isReady = found.data !== undefined || found.error !== undefined;
  useEffect(() => {
    if (isReady) spotlight.open();
  }, [isReady]);
  const request = asked.trim();
  const actions: SpotlightActionData[] = [
    ...(REQUEST_ID.test(request)
      ? [place(`Request ${request}`, 'Request', `/requests?request=${request}`)]
      : []),
    ...destinations().map(({ place: at, name }) => place(name, 'Page', `/${at}`)),
    ...(found.data ?? []),
  ];
  const wanted = request.toLowerCase();
  const results = actions
    .filter(({ label = '', keywords = '' }) => `${label} ${keywords}`.toLowerCase().includes(wanted))
    .slice(0, SHOWN);
  return (
    <Spotlight.Root
      query={asked}
      onQueryChange={setAsked}
      lockScroll={false}
      shortcut={null}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Title className="unseen">Search</Modal.Title>
      <Spotlight.Search
        aria-label="Search"
        placeholder="A page, a key, a model, a request id…"
        leftSection={<SearchIcon />}
      />
      <Spotlight.ActionsList>
        {results.map(({ id, ...action }) => (
          <Spotlight.Action key={id} {...action} />
        ))}
        {results.length === 0 && <Spotlight.Empty>No results</Spotlight.Empty>}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

async function read(signal: AbortSignal): Promise<readonly SpotlightActionData[]> {
  if (session.value?.role === 'operator') {
    const [{ accounts }, { models }] = await Promise.all([
      listAccounts('', MOST_ACCOUNTS, { signal }),
      readModelsOfOperator(signal),
    ]);
    return [
      ...accounts.map(({ id, email }) => place(email, 'Account', `/accounts/${id}`, `account-${id}`)),
      ...models.map(({ id }) => place(id, 'Model', `/models?search=${encodeURIComponent(id)}`)),
    ];
  }
  if (session.value?.role === 'person') return [];
  const [keys, models] = await Promise.all([manages() ? readKeys(OWN, signal) : [], readModels(signal)]);
  return [
    ...keys.map(({ id, name, prefix }) => ({
      ...place(name, 'Key', `/keys/${id}`, `key-${id}`),
      keywords: prefix,
    })),
    ...models.map(({ id }) => place(id, 'Model', `/models?model=${encodeURIComponent(id)}`)),
  ];
}

/** A result that leads to a page. */
function place(label: string, kind: string, path: string, id = `${kind} ${label}`): SpotlightActionData {
  return { id, label, description: kind, onClick: () => leave(() => goTo(path)) };
}
