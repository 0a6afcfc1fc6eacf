import { MantineProvider } from '@mantine/core';
import { loadPages, Page } from './pages.tsx';
import { session, signIns } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { THEME } from './theme.ts';
import { Announcements } from './ui/announcements.tsx';
import { LeaveQuestion } from './ui/leave-question.tsx';
import { Shell } from './ui/shell.tsx';

/** The whole page: the sign-in, or with a session the frame and the current page. */
export function App() {
  const role = session.value?.role;
  return (
    // The content security policy refuses style elements, which Mantine would write for its variables and classes.
    <MantineProvider
      theme={THEME}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      {role === undefined ? (
        <SignIn />
      ) : (
        // The `key` lets a new session start without anything that the previous one had loaded.
        <Shell key={signIns.value} onShown={() => loadPages(role)}>
          <Page role={role} />
        </Shell>
      )}
      <Announcements />
      <LeaveQuestion />
    </MantineProvider>
  );
}
