import { TextInput } from '@mantine/core';
import { useState } from 'react';
import type { CreatedInvitationView } from '../../../api/people/invitation-view.ts';
import { ask, made } from '../data/client.ts';
import { useScope } from '../session/scope.ts';
import { Dialog } from '../ui/confirm.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Time } from '../ui/elements.tsx';
import { ShownLink } from '../ui/shown-link.tsx';
import {
  OFFER_LABELS,
  type Offer,
  type OfferDraft,
  OfferFields,
  offerDraft,
  readOffer,
} from './member-form.tsx';

interface Draft extends OfferDraft {
  readonly email: string;
}

const LABELS = { email: 'E-mail address', ...OFFER_LABELS };
const LOST = 'The invitation link is shown only once. Without it, you have to invite the person again.';

/** Dialog that invites a person, and then shows the link. */
export function Invite({ onClose }: { onClose: () => void }) {
  const { api, accountHeader: account, givenRoles } = useScope();
  const [created, setCreated] = useState<CreatedInvitationView>();
  // An account without people needs its owner first; otherwise most people that are invited only use keys.
  const role = givenRoles.includes('member') ? 'member' : (givenRoles[0] ?? 'member');
  const edit = useEdit<Draft, Draft, Offer & { email: string }>({
    what: 'invitation',
    labels: LABELS,
    stored: { email: '', ...offerDraft({ role, can_create_keys: true, spending_limits: [] }) },
    draftOf: (draft) => draft,
    read: ({ email, ...offer }) => {
      const { body, faults } = readOffer(offer);
      return { body: { ...body, email: email.trim() }, faults };
    },
    send: async (changes, { role: offered }) => {
      const body = { role: offered, ...changes };
      setCreated(
        await made(
          'invitation',
          ask<CreatedInvitationView>(`${api}invitations/`, { method: 'POST', body, account }),
        ),
      );
      return undefined;
    },
  });
  if (created) {
    return (
      <ShownLink
        title="Invitation created"
        label="Invitation link"
        link={created.link}
        mailedTo={created.mailed ? (created.email ?? undefined) : undefined}
        lost={LOST}
        onDone={onClose}
      >
        It makes {created.email ?? 'whoever opens it first'} a member. It works once, until{' '}
        <Time at={created.expires_at} />.
      </ShownLink>
    );
  }
  return (
    <Dialog title="Invite a person" size="lg" onCancel={onClose}>
      <EditForm of={edit} verb="Create invitation" hint="The link is shown once, after this.">
        <div className="fields">
          <TextInput
            type="email"
            label="E-mail address"
            description="Only this address can accept. Leave it empty to make a link for anyone, which works once."
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            autoComplete="off"
            data-autofocus
            {...edit.input('email')}
          />
          <OfferFields of={edit} />
        </div>
      </EditForm>
    </Dialog>
  );
}
