import { useState } from 'react';
import { type CreatedInvitation, readInvitations, readMembers } from '../api/people.ts';
import { useLoad } from '../api/use-load.ts';
import { may } from '../session/session.ts';
import { PageFrame } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { InvitationTable } from './invitation-table.tsx';
import { InviteDialog, ShownLink } from './invite-dialog.tsx';
import { MemberTable } from './member-table.tsx';

/** The members of the account and its open invitations. */
export default function PeoplePage() {
  const members = useLoad(readMembers);
  const invitations = useLoad(readInvitations);
  const [isInviting, setInviting] = useState(false);
  const [created, setCreated] = useState<CreatedInvitation>();
  return (
    <PageFrame
      title="People"
      actions={
        may('change members') && (
          <button type="button" className="primary" onClick={() => setInviting(true)}>
            Invite
          </button>
        )
      }
    >
      <div className="section-head">
        <h2>Members</h2>
      </div>
      <Shown of={members}>{(list) => <MemberTable of={list} onChanged={members.reload} />}</Shown>
      <div className="section-head">
        <h2>Open invitations</h2>
      </div>
      <Shown of={invitations}>{(list) => <InvitationTable of={list} onChanged={invitations.reload} />}</Shown>
      {isInviting && (
        <InviteDialog
          onCreated={(invitation) => {
            setInviting(false);
            setCreated(invitation);
            invitations.reload();
          }}
          onClose={() => setInviting(false)}
        />
      )}
      {created && <ShownLink of={created} onDone={() => setCreated(undefined)} />}
    </PageFrame>
  );
}
