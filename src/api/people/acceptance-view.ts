import { ROLES } from '../../domain/roles.ts';
import { patched, required, type Sent, section } from '../../domain/shape.ts';
import { id, orNull, time, words } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';
import { NEW_PERSON, sent } from './person-view.ts';

const secret = required(sent, 'What follows the # in the link.');

export const InvitationSecret = section(
  { secret },
  { title: 'InvitationSecret', description: 'The secret of an invitation.' },
);

export const Acceptance = section(
  { secret, ...patched(NEW_PERSON) },
  {
    title: 'Acceptance',
    description: 'The secret of an invitation, and a new person unless you are signed in.',
  },
);

const account = Type.Object(
  { id: id('Id of the account.'), name: Type.String({ description: 'Name of the account.' }) },
  { description: 'The account.' },
);
const role = words(ROLES, 'What the member may.');

export const ShownInvitation = Type.Object(
  {
    account,
    role,
    email: orNull(Type.String(), 'The only address under which it can be accepted; null: any.'),
    expires_at: time('When the invitation ends.'),
  },
  { title: 'ShownInvitation', description: 'What an invitation offers.' },
);

export type ShownInvitationView = Static<typeof ShownInvitation>;
export type AcceptanceBody = Sent<typeof Acceptance>;

export const SHOWN_INVITATION_EXAMPLE = {
  account: { id: 1, name: 'Example Inc.' },
  role: 'member' as const,
  email: 'ada@example.com',
  expires_at: '2026-11-28T08:00:00.000Z',
};

export const ACCEPTANCE_EXAMPLES = {
  new: {
    summary: 'A new person',
    value: { secret: '4kC…', email: 'ada@example.com', name: 'Ada', password: 'correct horse battery' },
  },
  signed_in: { summary: 'A person who is signed in', value: { secret: '4kC…' } },
};
