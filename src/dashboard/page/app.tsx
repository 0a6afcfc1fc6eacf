import { Page } from './pages.tsx';
import { session } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { Announcements } from './ui/announcements.tsx';
import { LeaveQuestion } from './ui/leave-question.tsx';
import { Shell } from './ui/shell.tsx';

/** Without a session there is nothing but the sign-in. */
export function App() {
  return (
    <>
      {session.value === undefined ? (
        <SignIn />
      ) : (
        // A new session starts from nothing that the one before had loaded.
        <Shell key={`${session.value.role} ${session.value.token}`}>
          <Page role={session.value.role} />
        </Shell>
      )}
      <Announcements />
      <LeaveQuestion />
    </>
  );
}
