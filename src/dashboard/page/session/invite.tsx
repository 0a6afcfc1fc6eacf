import { useState } from 'react';
import {
  acceptInvitation,
  endSession,
  type InvitationLook,
  lookAtInvitation,
  providerAddress,
  readWays,
  type Ways,
} from '../api/people.ts';
import { useAction } from '../api/use-action.ts';
import { type Loaded, useLoad } from '../api/use-load.ts';
import { secret } from '../entry-here.ts';
import { ROLE_NAMES } from '../format/words.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { Time } from '../ui/elements.tsx';
import { FailureNote } from '../ui/note.tsx';
import { Shown } from '../ui/shown.tsx';
import { useFields } from '../ui/use-fields.ts';
import { EntryFrame } from './entry-frame.tsx';
import { NEW_PERSON, NewPersonFields } from './new-person-fields.tsx';
import { NoSecret } from './no-secret.tsx';
import { PersonSignIn, Providers } from './person-sign-in.tsx';
import { enter, session, setPerson } from './session.ts';

/** An invitation: what it is to, and the ways to accept it. */
export default function Invite() {
  const look = useLoad(async (signal) => (secret === '' ? undefined : lookAtInvitation(secret, signal)));
  const ways = useLoad(readWays);
  if (secret === '') {
    return <NoSecret title="Invitation">Open the link of your invitation again.</NoSecret>;
  }
  return (
    <EntryFrame title="Invitation" focusOn={`${look.isLoading} ${ways.isLoading}`}>
      <Shown of={look}>
        {(invitation) =>
          invitation && (
            <>
              <p>
                To join <strong>{invitation.account.name}</strong> as{' '}
                <strong>{ROLE_NAMES[invitation.role]}</strong>, until <Time at={invitation.expires_at} />.
              </p>
              {session.value?.signedIn ? (
                <AcceptAs email={session.value.signedIn.person.email} />
              ) : (
                <AcceptAnew invitation={invitation} ways={ways} />
              )}
            </>
          )
        }
      </Shown>
    </EntryFrame>
  );
}

async function accept(): Promise<void> {
  await acceptInvitation(secret);
  enter();
}

/** Accepts as the person who is signed in. */
function AcceptAs({ email }: { email: string }) {
  const action = useAction(accept);
  const other = useAction(async () => {
    await endSession();
    session.value = undefined;
  });
  return (
    <>
      <FailureNote error={action.error ?? other.error} />
      <div className="actions">
        <button type="button" onClick={() => void other.run()}>
          Sign out
        </button>
        <button
          type="button"
          className="primary"
          aria-disabled={action.isBusy}
          onClick={() => void action.run()}
        >
          Accept as {email}
        </button>
      </div>
    </>
  );
}

/** Accepts as a new person, with a provider, or after a sign-in. */
function AcceptAnew({ invitation, ways }: { invitation: InvitationLook; ways: Loaded<Ways> }) {
  const [isKnown, setKnown] = useState(false);
  const leave = useAction(async (name: string) => {
    location.assign(await providerAddress(name, { secret }));
  });
  const provider = (name: string) => ({ act: () => void leave.run(name) });
  return (
    <>
      <FailureNote error={leave.error} />
      {isKnown ? (
        <PersonSignIn ways={ways} provider={provider} onSignedIn={setPerson} />
      ) : (
        <Shown of={ways}>
          {({ passwords, oidc }) => (
            <>
              {passwords && <NewPersonForm email={invitation.email} />}
              <Providers names={oidc} provider={provider} />
            </>
          )}
        </Shown>
      )}
      {ways.data?.passwords && (
        <p>
          <button type="button" className="link" onClick={() => setKnown(!isKnown)}>
            {isKnown ? 'I am new here' : 'I can sign in already'}
          </button>
        </p>
      )}
    </>
  );
}

function NewPersonForm({ email }: { email: string | null }) {
  const { form, field } = useFields(
    { ...NEW_PERSON, email: email ?? '' },
    async ({ email: typed, ...person }) => {
      await acceptInvitation(secret, { email: typed.trim(), ...person });
      enter();
    },
    { email_taken: 'email', invitation_email: 'email', use_provider: 'email' },
  );
  return (
    <ActionForm {...form} verb="Accept">
      <NewPersonFields field={field} hasFixedEmail={email !== null} />
    </ActionForm>
  );
}
