import { MantineProvider } from '@mantine/core';
import { signal } from '@preact/signals';
import { lazy, Suspense, useEffect } from 'react';
import { ApiFailure } from './api/api-failure.ts';
import { readSession } from './api/people.ts';
import { entry } from './entry-here.ts';
import { loadPages, Page } from './pages.tsx';
import { enter, farewell, session, setPerson, signIns } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { THEME } from './theme.ts';
import { Announcements } from './ui/announcements.tsx';
import { LeaveQuestion } from './ui/leave-question.tsx';
import { Shell } from './ui/shell.tsx';

const ENTRY_PAGES = {
  setup: lazy(() => import('./session/setup.tsx')),
  invite: lazy(() => import('./session/invite.tsx')),
  reset: lazy(() => import('./session/reset.tsx')),
};

/** False until it is known whether the cookie has a person. */
const isKnown = signal(false);

/** The whole page: an entry, the sign-in, or with a session the frame and the current page. */
export function App() {
  useEffect(() => void findPerson(), []);
  return (
    // The content security policy refuses style elements, which Mantine would write for its variables and classes.
    <MantineProvider
      theme={THEME}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {isKnown.value && <Content />}
      <Announcements />
      <LeaveQuestion />
    </MantineProvider>
  );
}

function Content() {
  const role = session.value?.role;
  if (entry !== undefined && entry !== 'sign-in') {
    const Entry = ENTRY_PAGES[entry];
    return (
      <Suspense fallback={null}>
        <Entry />
      </Suspense>
    );
  }
  if (role === undefined || entry === 'sign-in') return <SignIn />;
  return (
    // The `key` lets a new session start without anything that the previous one had loaded.
    <Shell key={signIns.value} onShown={() => loadPages(role)}>
      <Page role={role} />
    </Shell>
  );
}

/** Goes on with the person whom the cookie has, where this tab has no token. */
async function findPerson(): Promise<void> {
  if (session.value === undefined && entry !== 'setup' && entry !== 'reset') {
    try {
      setPerson(await readSession());
      // A failure of a provider is shown to a person who is signed in, too.
      if (entry === 'sign-in' && location.search === '') return enter();
    } catch (error) {
      const isAway = error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
      if (isAway) farewell.value = error.message;
    }
  }
  isKnown.value = true;
}
