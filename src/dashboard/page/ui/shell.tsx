import type { ReactNode } from 'react';
import { zone, zoneName } from '../format/time.ts';
import { PLACES } from '../navigation.ts';
import { chooseZone, route } from '../route.ts';
import { manages, session, signOut } from '../session/session.ts';
import { leave } from './leave-guard.ts';
import { Note } from './note.tsx';

/** Frame around every page: navigation, content, footer. */
export function Shell({ children }: { children: ReactNode }) {
  const places = PLACES[session.value?.role ?? 'owner'];
  const here = places.find(([place]) => place === route.value[0])?.[0] ?? places[0]?.[0];
  return (
    <>
      <button type="button" className="skip" onClick={() => document.querySelector('h1')?.focus()}>
        Skip to content
      </button>
      <header className="top">
        <div className="top-row">
          <span className="brand">Tollgate</span>
          <nav aria-label="Pages">
            <ul>
              {places.map(([place, name]) => (
                <li key={place}>
                  <a href={`#/${place}`} aria-current={place === here ? 'page' : undefined}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
          <button type="button" className="quiet" onClick={() => leave(() => signOut())}>
            Sign out
          </button>
        </div>
      </header>
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
      <footer>
        <ZoneChoice />
        <p>
          Tollgate {TOLLGATE_VERSION} · <a href="/docs">API reference</a>
        </p>
      </footer>
    </>
  );
}

function ZoneChoice() {
  const isUtc = zone.value === 'utc';
  return (
    <p>
      Times are shown in {isUtc ? 'UTC' : `your time zone (${zoneName()})`}.{' '}
      <button type="button" className="link" onClick={() => chooseZone(isUtc ? 'local' : 'utc')}>
        {isUtc ? 'Show local time' : 'Show UTC'}
      </button>
    </p>
  );
}
