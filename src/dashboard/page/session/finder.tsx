import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { read } from '../data/query.ts';
import type { Choices } from '../ui/choices.ts';
import { Dialog } from '../ui/confirm.tsx';
import { Icon } from '../ui/icon.tsx';
import { accountsOf, type Me } from './me.ts';
import { pagesOf } from './pages.ts';
import { ownScope, type Scope } from './scope.ts';

/** Results of one kind that are shown. */
const SHOWN = 6;
/** Time without another letter after which the gateway is asked. */
const PAUSE_MS = 150;
/** What request ids look like: a word, and an underscore before the rest. */
const REQUEST_ID = /^[a-z]+_[\w-]{6,}$/i;

interface Result {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly path: string;
  readonly choices?: Choices;
}

/** Search for pages, keys, members, accounts and calls by name or id. The gateway searches what can be many. */
export default function Finder({
  me,
  scope,
  onClose,
}: {
  me: Me;
  scope: Scope | undefined;
  onClose: () => void;
}) {
  const router = useRouter();
  const combobox = useCombobox({ opened: true });
  const [text, setText] = useState('');
  const wanted = text.trim();
  const asked = useLater(wanted);
  const results = [...localResults(me, scope, wanted), ...useRemote(scope, asked)];
  const isBusy = wanted !== asked;
  // Enter takes the first result.
  const ids = results.map(({ id }) => id).join(' ');
  useEffect(() => void combobox.selectFirstOption(), [ids]);
  const go = (id: string) => {
    const result = results.find((one) => one.id === id);
    if (result === undefined) return;
    onClose();
    void router.navigate({ to: result.path, search: result.choices ?? {} } as never);
  };
  return (
    <Dialog title="Search" onCancel={onClose} centered={false}>
      <Combobox store={combobox} onOptionSubmit={go}>
        <Combobox.EventsTarget withExpandedAttribute>
          <TextInput
            data-autofocus
            aria-label="Search"
            placeholder={placeholderOf(scope)}
            leftSection={<Icon name="search" />}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            // The open list keeps Escape from the dialog.
            onKeyDown={(event) => event.key === 'Escape' && onClose()}
          />
        </Combobox.EventsTarget>
        <Combobox.Options className="finder-list" aria-label="Results" aria-busy={isBusy}>
          {results.map(({ id, name, kind }) => (
            <Combobox.Option key={id} value={id}>
              <span className="finder-result">
                <span>{name}</span>
                <small>{kind}</small>
              </span>
            </Combobox.Option>
          ))}
          {results.length === 0 && <Combobox.Empty>{isBusy ? 'Searching…' : 'No results'}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox>
    </Dialog>
  );
}

function placeholderOf(scope: Scope | undefined): string {
  if (scope === undefined) return 'A page or an account…';
  return scope.kind === 'operator'
    ? 'A page, an account, a request ID…'
    : 'A page, a key, a member, a request ID…';
}

/** Results that the page knows by itself: a request by its id, pages and the session's accounts. */
function localResults(me: Me, scope: Scope | undefined, wanted: string): readonly Result[] {
  const has = (name: string) => name.toLowerCase().includes(wanted.toLowerCase());
  const pages = scope ? pagesOf(scope) : [];
  const results: Result[] = [
    ...pages.map(({ place, name }) => ({
      id: `page ${place}`,
      name,
      kind: 'Page',
      path: `${scope?.path}/${place}`,
    })),
    ...(me.person ? [{ id: 'page me', name: 'Me', kind: 'Page', path: '/me' }] : []),
    ...accountsOf(me).flatMap(({ id, name }) => {
      const other = ownScope(me, id);
      const isShown = other === undefined || other.path === scope?.path;
      return isShown ? [] : [{ id: `own ${id}`, name, kind: 'Your account', path: `${other.path}/home` }];
    }),
  ];
  const found = results.filter(({ name }) => has(name));
  if (!scope?.can('read calls') || !REQUEST_ID.test(wanted)) return found;
  const path = `${scope.path}/requests`;
  return [{ id: `call ${wanted}`, name: wanted, kind: 'Request', path, choices: { call: wanted } }, ...found];
}

/** Results that the gateway finds: keys and members of an account, or accounts for the operator. */
function useRemote(scope: Scope | undefined, asked: string): readonly Result[] {
  const isOfAll = scope?.kind === 'operator';
  const query = encodeURIComponent(asked);
  const keys = useFound<{ keys: readonly { id: number; name: string }[] }>(
    scope,
    `${scope?.keysApi}?search=${query}&limit=${SHOWN}`,
    asked !== '' && !isOfAll && scope?.can('read keys') === true,
  );
  const members = useFound<{ members: readonly { person: { id: number; name: string; email: string } }[] }>(
    scope,
    `${scope?.api}members/`,
    asked !== '' && !isOfAll && scope?.can('read members') === true,
  );
  const accounts = useFound<{ accounts: readonly { id: number; email: string; name?: string }[] }>(
    scope,
    `/api/admin/accounts/?email=${query}&limit=${SHOWN}`,
    asked !== '' && isOfAll,
  );
  const has = (words: string) => words.toLowerCase().includes(asked.toLowerCase());
  return [
    ...(keys?.keys ?? []).map(({ id, name }) => ({
      id: `key ${id}`,
      name,
      kind: 'Key',
      path: `${scope?.path}/keys/${id}`,
    })),
    ...(members?.members ?? [])
      .filter(({ person }) => has(`${person.name} ${person.email}`))
      .slice(0, SHOWN)
      .map(({ person }) => ({
        id: `member ${person.id}`,
        name: person.name || person.email,
        kind: 'Member',
        path: `${scope?.path}/members`,
        choices: { member: String(person.id) },
      })),
    ...(accounts?.accounts ?? []).map(({ id, email, name = email }) => ({
      id: `account ${id}`,
      name: name === email ? email : `${name} (${email})`,
      kind: 'Account',
      path: `/operator/accounts/${id}/home`,
    })),
  ];
}

/** The answer of a search that is asked for. */
function useFound<Body>(scope: Scope | undefined, path: string, isAsked: boolean): Body | undefined {
  const { data } = useQuery({ ...read<Body>(scope, path), enabled: isAsked });
  return isAsked ? data : undefined;
}

/** A text once it has stayed the same for a moment. */
function useLater(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(setLater, PAUSE_MS, text);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}
