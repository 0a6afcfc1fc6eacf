import { Themed } from '../theme.tsx';
import InvitePage from './invite.tsx';
import ResetPage from './reset.tsx';
import { entry } from './secret.ts';
import SetupPage from './setup.tsx';
import SignInPage from './sign-in.tsx';

const PAGES = { 'sign-in': SignInPage, setup: SetupPage, invite: InvitePage, reset: ResetPage };

/** The entry that the address names. */
export default function Entries() {
  const Entry = PAGES[entry ?? 'sign-in'];
  return (
    <Themed>
      <Entry />
    </Themed>
  );
}
