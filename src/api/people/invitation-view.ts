import type { Invitation } from '../../book/invitations.ts';
import { TYPES } from '../../domain/key-readers.ts';
import { timestamp } from '../../domain/period.ts';
import { fieldSchemas, maybe, orNull, section, withDefault } from '../../domain/shape.ts';
import { wireLimits } from '../../domain/spending-limits.ts';
import { emailAddress } from '../account/account-view.ts';
import { id, orNull as orNullSchema, time } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';
import { MEMBER_FIELDS } from './member-view.ts';

export const NewInvitation = section(
  {
    role: MEMBER_FIELDS.role,
    email: maybe(
      orNull(emailAddress),
      'Only a person with this e-mail address can accept. Absent: anyone with the link.',
    ),
    name: maybe(orNull(TYPES.name), 'Name of the person, to tell invitations apart.'),
    can_create_keys: withDefault(MEMBER_FIELDS.can_create_keys, true),
    spending_limits: withDefault(MEMBER_FIELDS.spending_limits, []),
  },
  { title: 'NewInvitation', description: 'The membership that the invitation offers.' },
);

const invitation = {
  id: id('Id of the invitation.'),
  ...fieldSchemas(MEMBER_FIELDS),
  email: orNullSchema(
    Type.String(),
    'Only a person with this e-mail address can accept; null: anyone with the link.',
  ),
  name: orNullSchema(Type.String(), 'Name of the person; null: none.'),
  created_at: time('When the invitation was created.'),
  expires_at: time('When the invitation ends, if nobody accepts it.'),
};

export const InvitationSchema = Type.Object(invitation, {
  title: 'Invitation',
  description: 'An open invitation to an account, without its link.',
});

/** Response to the creation of an invitation, the only one that shows the link. */
export const CreatedInvitation = Type.Object(
  {
    ...invitation,
    link: Type.String({ description: 'Works once. It is in this answer only: send it to the person.' }),
    mailed: Type.Boolean({
      description: 'Whether the link was sent to the e-mail address of the invitation.',
    }),
  },
  { title: 'CreatedInvitation', description: 'The invitation, with its link.' },
);

export const InvitationList = Type.Object(
  { invitations: Type.Array(InvitationSchema) },
  { title: 'InvitationList', description: 'Open invitations of the account, oldest first.' },
);

export type InvitationView = Static<typeof InvitationSchema>;
export type CreatedInvitationView = Static<typeof CreatedInvitation>;
export type InvitationListView = Static<typeof InvitationList>;

export const INVITATION_EXAMPLE = {
  id: 3,
  role: 'member' as const,
  email: 'ada@example.com',
  name: 'Ada',
  can_create_keys: true,
  spending_limits: [{ period: 'monthly' as const, credits: 10 }],
  created_at: '2026-11-21T08:00:00.000Z',
  expires_at: '2026-11-28T08:00:00.000Z',
};

export const CREATED_INVITATION_EXAMPLE = {
  ...INVITATION_EXAMPLE,
  link: 'https://gateway.example.com/dashboard/invite#4kC…',
  mailed: false,
};

export const NEW_INVITATION_EXAMPLES = {
  member: {
    summary: 'A member with a limit',
    value: {
      role: 'member',
      email: 'ada@example.com',
      spending_limits: [{ period: 'monthly', credits: 10 }],
    },
  },
  anyone: { summary: 'For whoever has the link', value: { role: 'viewer' } },
};

export function invitationView(made: Invitation): InvitationView {
  return {
    id: made.id,
    role: made.role,
    email: made.email,
    name: made.name,
    can_create_keys: made.canCreateKeys,
    spending_limits: wireLimits(made.spendingLimits),
    created_at: timestamp(made.createdAt),
    expires_at: timestamp(made.expiresAt),
  };
}

export const InvitationPath = Type.Object({
  invitation_id: Type.Integer({ minimum: 1, description: 'Id of the invitation.', examples: [3] }),
});
