import { useState } from 'react';
import type { Role } from '../../../domain/roles.ts';
import { type CreatedInvitation, invite } from '../api/people.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { CopyValue } from '../ui/copy-value.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Time } from '../ui/elements.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { Note } from '../ui/note.tsx';
import { useFields } from '../ui/use-fields.ts';
import { RoleChoice } from './role-choice.tsx';

export function InviteDialog(props: {
  onCreated: (invitation: CreatedInvitation) => void;
  onClose: () => void;
}) {
  const { form, field } = useFields(
    { role: 'member', email: '' },
    async ({ role, email }) => props.onCreated(await invite(role as Role, email.trim())),
    { already_member: 'email' },
  );
  return (
    <Dialog title="Invite a person" onCancel={props.onClose}>
      <ActionForm {...form} verb="Create invitation" onCancel={props.onClose}>
        <RoleChoice {...field('role')} />
        <TextField
          {...field('email')}
          label="Email address"
          hint="Only this address can accept the invitation. Leave empty to let anyone with the link accept it."
          input={{ type: 'email' }}
        />
      </ActionForm>
    </Dialog>
  );
}

/** The link of a new invitation, once. */
export function ShownLink({ of, onDone }: { of: CreatedInvitation; onDone: () => void }) {
  const [isSaved, setSaved] = useState(false);
  useUnsaved(!isSaved, 'The invitation link is shown only once. Without it you have to invite again.');
  return (
    <Dialog title="Invitation created">
      <Note kind="warning">
        <p>
          The link is shown only once. It works once, until <Time at={of.expires_at} />.
          {of.mailed ? ` It was also sent to ${of.email}.` : ' Send it to the person.'}
        </p>
      </Note>
      <CopyValue label="Invitation link" value={of.link} isMain />
      <div className="actions">
        <button
          type="button"
          onClick={() => {
            setSaved(true);
            onDone();
          }}
        >
          Done
        </button>
      </div>
    </Dialog>
  );
}
