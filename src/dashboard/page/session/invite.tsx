import { Button } from '@mantine/core';
import { useState } from 'react';
import type { ShownInvitationView } from '../../../api/people/acceptance-view.ts';
import type { SessionView, WaysView } from '../../../api/people/person-view.ts';
import { HERE } from '../base.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { ROLE_NAMES, whatRoleMay } from '../format/roles.ts';
import { Time } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import {
  EntryFrame,
  FirstFocus,
  goTo,
  goToProvider,
  NewPersonForm,
  NoSecret,
  Once,
  PasswordSignIn,
  Providers,
  readSession,
  readWays,
} from './entry.tsx';
import { secret } from './secret.ts';

const TITLE = 'Invitation';

/** What the link offers, who is signed in, and the ways to accept it. */
interface Offer {
  readonly invitation: ShownInvitationView;
  readonly session: SessionView | undefined;
  readonly ways: WaysView;
}

async function readOffer(): Promise<Offer> {
  const [invitation, session, ways] = await Promise.all([
    ask<ShownInvitationView>('/api/invitations/look/', { method: 'POST', body: { secret } }),
    readSession(),
    readWays(),
  ]);
  return { invitation, session, ways };
}

/** An invitation to an account: as whom to join, or how. */
export default function InvitePage() {
  if (secret === '') return <NoSecret title={TITLE}>Open the link of your invitation again.</NoSecret>;
  return (
    <EntryFrame title={TITLE}>
      <Once read={readOffer}>{(offer) => <Accept {...offer} />}</Once>
    </EntryFrame>
  );
}

function Accept({ invitation, session: found, ways }: Offer) {
  const [session, setSession] = useState(found);
  const { account, role, email, expires_at } = invitation;
  return (
    <>
      <p>
        You are invited to join <strong>{account.name}</strong> as <strong>{ROLE_NAMES[role]}</strong>
        {email && (
          <>
            , with the address <strong>{email}</strong>
          </>
        )}
        .
      </p>
      <p>There, you may:</p>
      <ul className="entry-list">
        {whatRoleMay(role).map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
      {session ? (
        <AsSignedIn session={session} accountId={account.id} onSignedOut={() => setSession(undefined)} />
      ) : (
        <AsNew invitation={invitation} ways={ways} onSignedIn={() => void readSession().then(setSession)} />
      )}
      <p className="hint">
        The invitation ends at <Time at={expires_at} />.
      </p>
    </>
  );
}

async function join(accountId: number, person?: object): Promise<void> {
  await ask('/api/invitations/accept/', { method: 'POST', body: { secret, ...person } });
  goTo(new URL(`a/${accountId}/home`, HERE));
}

/** Joins as the person who is signed in. A key is nobody, so it must be signed out. */
function AsSignedIn(props: { session: SessionView; accountId: number; onSignedOut: () => void }) {
  const { person, key } = props.session;
  const [failure, setFailure] = useState<unknown>();
  const isMember = failure instanceof ApiFailure && failure.code === 'already_member';
  const leave = async () => {
    await ask('/api/session/', { method: 'DELETE' });
    props.onSignedOut();
  };
  return (
    <>
      <p>
        {person
          ? `You are signed in as ${person.email}.`
          : `This browser is signed in with ${key ? 'an API key' : 'the admin token'}, which can't join an account.`}
      </p>
      <Failure error={failure} />
      {isMember && (
        <p>
          <a href={new URL(`a/${props.accountId}/home`, HERE).href}>Open the account</a>
        </p>
      )}
      <div className="actions">
        {person && (
          <Button onClick={() => void join(props.accountId).catch(setFailure)}>Join as {person.email}</Button>
        )}
        <Button variant="default" onClick={() => void leave().catch(setFailure)}>
          Use another account
        </Button>
      </div>
    </>
  );
}

/** Joins with a provider, as a new person, or after a sign-in. */
function AsNew(props: { invitation: ShownInvitationView; ways: WaysView; onSignedIn: () => void }) {
  const { account, email } = props.invitation;
  const { passwords, oidc } = props.ways;
  const [isKnown, setKnown] = useState(false);
  return (
    <>
      <Providers names={oidc} use={(name) => goToProvider(name, { secret })} />
      {passwords && oidc.length > 0 && <p className="entry-or">or</p>}
      {passwords && (
        <FirstFocus key={String(isKnown)}>
          {isKnown ? (
            <PasswordSignIn onDone={props.onSignedIn} />
          ) : (
            <NewPersonForm verb="Join" email={email} send={(person) => join(account.id, person)} />
          )}
          <p className="sign-in-foot">
            <button type="button" className="link" onClick={() => setKnown(!isKnown)}>
              {isKnown ? 'I am new here' : 'I have signed in here before'}
            </button>
          </p>
        </FirstFocus>
      )}
    </>
  );
}
