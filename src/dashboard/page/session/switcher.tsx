import { Combobox, useCombobox } from '@mantine/core';
import { useLocation, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ROLE_NAMES } from '../format/roles.ts';
import { Icon } from '../ui/icon.tsx';
import { accountsOf, type Me } from './me.ts';
import { samePlaceIn } from './pages.ts';
import { operatorScope, ownScope, type Scope } from './scope.ts';

/** The list can be searched from this number of accounts on. */
const MANY = 8;

interface Choice {
  readonly scope: Scope;
  readonly name: string;
  readonly role: string;
}

/** Choice of the account whose pages are shown, or of all accounts for an operator. The place is kept. */
export function Switcher({ me, scope }: { me: Me; scope: Scope | undefined }) {
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setText('');
    },
    onDropdownOpen: (source) => {
      if (isLong) combobox.focusSearchInput();
      if (source === 'keyboard') combobox.selectFirstOption();
    },
  });
  const [text, setText] = useState('');
  const { pathname } = useLocation();
  const router = useRouter();
  const choices = choicesOf(me);
  const isLong = choices.length >= MANY;
  const current = choices.find((choice) => choice.scope.path === scope?.path);
  const shown = current ?? (scope?.kind === 'operated' ? OPERATED : NONE);
  if (choices.length === 0 || (choices.length === 1 && current)) {
    return <Current name={shown.name} role={shown.role} />;
  }
  const wanted = text.trim().toLowerCase();
  const found = choices.filter(({ name }) => name.toLowerCase().includes(wanted));
  const go = (path: string) => {
    combobox.closeDropdown();
    const chosen = choices.find((choice) => choice.scope.path === path);
    if (chosen) void router.navigate({ to: samePlaceIn(chosen.scope, pathname, scope), search: {} } as never);
  };
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={go}
      width="target"
      withinPortal={false}
      transitionProps={{ duration: 0 }}
    >
      <Combobox.Target targetType="button">
        <button type="button" className="switcher" onClick={() => combobox.toggleDropdown()}>
          <span className="unseen">Account: </span>
          <Current name={shown.name} role={shown.role} />
          <Icon name="switch" />
        </button>
      </Combobox.Target>
      <Combobox.Dropdown>
        {isLong && (
          <Combobox.Search
            aria-label="Search accounts"
            placeholder="Search accounts"
            value={text}
            onChange={(event) => {
              setText(event.currentTarget.value);
              combobox.updateSelectedOptionIndex();
            }}
          />
        )}
        <Combobox.Options className="switcher-list" aria-label="Accounts">
          {found.map((choice) => (
            <Combobox.Option
              key={choice.scope.path}
              value={choice.scope.path}
              active={choice === current}
              aria-current={choice === current || undefined}
            >
              <Current name={choice.name} role={choice.role} />
            </Combobox.Option>
          ))}
          {found.length === 0 && <Combobox.Empty>No account has this name.</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

const ALL = { name: 'All accounts', role: 'Operator' };
const OPERATED = { name: 'One account', role: 'Operator' };
const NONE = { name: 'No account', role: 'You belong to none' };

function Current({ name, role }: { name: string; role: string }) {
  return (
    <span className="switcher-current">
      <strong>{name}</strong>
      <small>{role}</small>
    </span>
  );
}

function choicesOf(me: Me): readonly Choice[] {
  const operator = operatorScope(me);
  return [
    ...(operator ? [{ scope: operator, ...ALL }] : []),
    ...accountsOf(me).flatMap(({ id, name }) => {
      const scope = ownScope(me, id);
      return scope ? [{ scope, name, role: roleIn(scope) }] : [];
    }),
  ];
}

/** The role of the session in an account, or what its key may. */
function roleIn({ membership, me }: Scope): string {
  if (membership) return ROLE_NAMES[membership.role];
  return me.key?.can_manage ? 'Managing key' : 'API key';
}
