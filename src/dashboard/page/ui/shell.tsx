import { ActionIcon, Burger, useMantineColorScheme } from '@mantine/core';
import {
  BookIcon,
  ClockIcon,
  DeviceDesktopIcon,
  MoonIcon,
  SignOutIcon,
  SunIcon,
} from '@primer/octicons-react';
import { type ReactNode, useEffect, useState } from 'react';
import type { Role } from '../../../domain/roles.ts';
import { wordsOf } from '../api/failure.ts';
import { endSession } from '../api/people.ts';
import { FinderButton } from '../finder/finder-button.tsx';
import { zone, zoneName } from '../format/time.ts';
import { ROLE_NAMES } from '../format/words.ts';
import { destinations, homeOf } from '../navigation.ts';
import { chooseZone, route } from '../route.ts';
import type { PageRole } from '../session/may.ts';
import { isPerson, manages, session, signOut } from '../session/session.ts';
import { ViewChoice } from '../session/view-choice.tsx';
import { announce } from './announcements.tsx';
import { leave } from './leave-guard.ts';
import { Mark } from './mark.tsx';
import { Note } from './note.tsx';

/** Frame around every page: the navigation at the side (on phones above, behind a button), and the content. */
export function Shell({ children, onShown }: { children: ReactNode; onShown: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const place = route.value[0];
  // Another page closes the menu of a phone.
  useEffect(() => setOpen(false), [place]);
  useEffect(onShown, []);
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to content
      </button>
      <aside className="side" aria-label="Tollgate">
        <div className="side-head">
          <a className="brand" href={`#/${homeOf(session.value?.role ?? 'owner')}`}>
            <Mark /> Tollgate
          </a>
          <Burger
            className="side-toggle"
            size="sm"
            opened={isOpen}
            onClick={() => setOpen(!isOpen)}
            aria-label="Menu"
            aria-expanded={isOpen}
          />
        </div>
        <div className={isOpen ? 'side-body side-open' : 'side-body'}>
          <div>
            <ViewChoice />
            <FinderButton />
            <Navigation />
          </div>
          <SideFoot />
        </div>
      </aside>
      <main>
        {session.value?.isPrevious && manages() && (
          <Note kind="warning">
            <p>
              You are signed in with the previous value of your key, which can't make changes. Sign in with
              the new value.
            </p>
          </Note>
        )}
        {children}
      </main>
    </div>
  );
}

function Navigation() {
  const role = session.value?.role ?? 'owner';
  const here = route.value[0] ?? homeOf(role);
  return (
    <nav aria-label="Pages">
      <ul>
        {destinations().map(({ place, name, Icon }) => (
          <li key={place}>
            <a href={`#/${place}`} aria-current={place === here ? 'page' : undefined}>
              <Icon />
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function SideFoot() {
  return (
    <div className="side-foot">
      <SignedIn />
      <ul>
        <li>
          <ZoneChoice />
        </li>
        <li>
          <a href="../docs">
            <BookIcon />
            API reference
          </a>
        </li>
        <li>
          <button type="button" className="side-button" onClick={() => leave(() => void end())}>
            <SignOutIcon />
            Sign out
          </button>
        </li>
      </ul>
      <div className="side-row">
        <small>Tollgate {TOLLGATE_VERSION}</small>
        <ThemeChoice />
      </div>
    </div>
  );
}

const SCHEMES = [
  ['light', 'Light theme', SunIcon],
  ['dark', 'Dark theme', MoonIcon],
  ['auto', 'Theme of the system', DeviceDesktopIcon],
] as const;

function ThemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <fieldset className="theme" aria-label="Theme">
      {SCHEMES.map(([scheme, name, Icon]) => (
        <ActionIcon
          key={scheme}
          size="sm"
          variant={scheme === colorScheme ? 'light' : 'subtle'}
          color={scheme === colorScheme ? 'blue' : 'gray'}
          aria-label={name}
          aria-pressed={scheme === colorScheme}
          onClick={() => setColorScheme(scheme)}
        >
          <Icon />
        </ActionIcon>
      ))}
    </fieldset>
  );
}

/** Signs out. A person stays signed in where the gateway cannot end the session. */
async function end(): Promise<void> {
  try {
    if (isPerson()) await endSession();
  } catch (error) {
    if (session.value) announce(wordsOf(error));
    return;
  }
  signOut();
}

/** Name of the person, key or operator that is signed in, with the role. */
function SignedIn() {
  const { name = 'Signed in', role = 'key' } = session.value ?? {};
  return (
    <p className="signed-in">
      <strong title={name}>{isPerson() ? <a href="#/me">{name}</a> : name}</strong>
      <span>{roleWords(role)}</span>
    </p>
  );
}

function roleWords(role: PageRole): string {
  if (role === 'operator') return isPerson() ? 'Operator' : 'All accounts';
  if (role === 'person') return 'No account';
  if (isPerson()) return ROLE_NAMES[role as Role];
  return role === 'key' ? 'API key' : 'Managing key';
}

function ZoneChoice() {
  const isUtc = zone.value === 'utc';
  return (
    <button
      type="button"
      className="side-button"
      title={`Times are shown in ${isUtc ? 'UTC' : `your time zone (${zoneName()})`}.`}
      onClick={() => chooseZone(isUtc ? 'local' : 'utc')}
    >
      <ClockIcon />
      {isUtc ? 'Show local time' : 'Show UTC'}
      <small aria-hidden="true">{isUtc ? 'UTC' : zoneName().split('/').at(-1)?.replaceAll('_', ' ')}</small>
    </button>
  );
}
