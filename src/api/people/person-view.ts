import type { BookKeys } from '../../book/keys.ts';
import type { BookSessions, SessionRecord } from '../../book/sessions.ts';
import type { KeyRecord } from '../../domain/key.ts';
import { TYPES } from '../../domain/key-readers.ts';
import { hasRightLength, PASSWORD } from '../../domain/password-length.ts';
import type { Person as PersonRecord } from '../../domain/people.ts';
import { timestamp } from '../../domain/period.ts';
import {
  boolean,
  fieldSchemas,
  maybe,
  optional,
  patched,
  reader,
  required,
  section,
  text,
} from '../../domain/shape.ts';
import { wireLimits } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { emailAddress } from '../account/account-view.ts';
import { memberLimits } from '../account/member-limits.ts';
import {
  anyText,
  CURSOR,
  DEFAULT_PAGE_LIMIT,
  id,
  orNull,
  PAGE_LIMIT,
  time,
  timeOrNull,
} from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';
import { MEMBER_EXAMPLE, MemberSchema } from './member-view.ts';

const email = required(emailAddress, 'E-mail address, unique among people in NFC and lower case.');
const name = required(TYPES.name, 'Name, one line.');
const password = required(
  text(
    `must be a password of ${PASSWORD.least} to ${PASSWORD.most} characters`,
    (given) => (hasRightLength(given) && given.isWellFormed() ? given : undefined),
    { minLength: PASSWORD.least, maxLength: PASSWORD.most, format: 'password' },
  ),
  'New password, kept as it is: spaces and case count.',
);
/** Fields of a new person. */
export const NEW_PERSON = { email, name, password };
/** A password, a code or a secret as it was sent: only comparing it shows whether it is right. */
export const sent = reader<string, string>({ type: 'string' }, (value, path, faults) =>
  typeof value === 'string' ? value : faults.add(path, 'must be a string'),
);

const OPERATOR_FIELDS = {
  is_operator: required(boolean, 'Whether the person has the admin API and the operator pages.'),
  is_active: required(
    boolean,
    "false: the person can't sign in. Sessions end, and their keys of all accounts become inactive.",
  ),
};

/** `POST /api/session/`. */
export const SignInBody = section(
  {
    email: maybe(sent, 'E-mail address of the person.'),
    password: maybe(sent, 'Password of the person.'),
    key: maybe(sent, 'An API key, or the operator token, in place of both.'),
  },
  { title: 'SignIn', description: 'Who signs in: a person, or the holder of a key.' },
);

/** `POST /api/setup/`. */
export const SetupBody = section(
  { code: required(sent, 'The code of the link.'), email, name, password },
  { title: 'Setup', description: 'The first operator.' },
);

/** `POST /api/session/reset/`. */
export const ResetBody = section(
  { secret: required(sent, 'The secret of the link.'), password },
  { title: 'Reset', description: 'A new password.' },
);

/** `PATCH /api/session/person/`. */
export const OwnPersonPatch = section(
  {
    ...patched({ name, password }),
    current_password: maybe(sent, 'The present password; required with `password`, if the person has one.'),
  },
  { title: 'OwnPersonPatch', description: 'The fields to change; others stay as they are.' },
);

/** `PATCH /api/admin/people/<id>/`. */
export const PersonPatch = section(patched({ name, email, ...OPERATOR_FIELDS }), {
  title: 'PersonPatch',
  description: 'The fields to change; others stay as they are.',
});

/** `POST /api/admin/people/`. */
export const NewPersonBody = section(
  {
    email,
    is_operator: optional(boolean, false, 'true: whoever uses the link becomes an operator.'),
  },
  { title: 'NewPerson', description: 'The new person.' },
);

export const PeopleQuery = section({
  limit: optional(PAGE_LIMIT, DEFAULT_PAGE_LIMIT, 'Number of people per page.'),
  after: maybe(CURSOR, '`next` of the previous page.'),
  search: maybe(
    anyText({ examples: ['ada'] }),
    'Only people with this text in their name or e-mail address, in any case.',
  ),
});

export const PersonSchema = Type.Object(
  {
    id: id('Id of the person.'),
    email: Type.String({ description: 'E-mail address.' }),
    name: Type.String({ description: 'Name; can be empty.' }),
    ...fieldSchemas(OPERATOR_FIELDS),
    created_at: time('When the person was created.'),
    last_seen_at: timeOrNull('Last request with a session, to the minute; null: none.'),
  },
  { title: 'Person', description: 'A person who signs in.' },
);
export type PersonView = Static<typeof PersonSchema>;

export const PersonPage = Type.Object(
  {
    people: Type.Array(PersonSchema),
    next: orNull(Type.String(), 'Send it as `after` for the next page; null: no more.'),
  },
  { title: 'PersonPage', description: 'People by ascending id.' },
);
export type PersonPageView = Static<typeof PersonPage>;

export const PERSON_EXAMPLE = {
  id: 1,
  email: 'ada@example.com',
  name: 'Ada',
  is_operator: true,
  is_active: true,
  created_at: '2026-11-21T08:00:00.000Z',
  last_seen_at: '2026-11-21T09:30:00.000Z',
};

/** A link to a page of the dashboard, which works once. */
export const LinkAnswer = Type.Object(
  {
    link: Type.String({
      description: 'Works once, for 24 hours. It is in this answer only: send it to the person.',
    }),
    mailed: Type.Boolean({ description: 'Whether the link was sent to the e-mail address of the person.' }),
  },
  { title: 'Link', description: 'The link.' },
);
export type LinkView = Static<typeof LinkAnswer>;

export const LINK_EXAMPLE = { link: 'https://gateway.example.com/dashboard/reset#4kC…', mailed: false };

const { role, is_active, can_create_keys, spending_limits, limits, active_keys } = MemberSchema.properties;

export const SessionSchema = Type.Object(
  {
    person: orNull(PersonSchema, 'Who is signed in; null: a key, or the operator token.'),
    key: orNull(
      Type.Object({
        id: id('Id of the key.'),
        name: Type.String({ description: 'Name of the key.' }),
        can_manage: Type.Boolean({ description: 'Whether it manages keys and the account.' }),
      }),
      'The key of the session, which has exactly its rights; null: a person, or the operator token.',
    ),
    is_operator: Type.Boolean({ description: 'Whether the session has the admin API.' }),
    memberships: Type.Array(
      Type.Object({
        account: Type.Object(
          { id: id('Id of the account.'), name: Type.String({ description: 'Name of the account.' }) },
          { description: 'The account.' },
        ),
        role,
        is_active,
        can_create_keys,
        spending_limits,
        limits,
        active_keys,
      }),
      { description: 'Memberships of the person, by account; inactive ones too.' },
    ),
  },
  { title: 'Session', description: 'Who or what is signed in, and the accounts of a person.' },
);
export type SessionView = Static<typeof SessionSchema>;

const { person: _person, created_at: _createdAt, last_seen_at: _lastSeenAt, ...membership } = MEMBER_EXAMPLE;
export const SESSION_EXAMPLE = {
  person: PERSON_EXAMPLE,
  key: null,
  is_operator: true,
  memberships: [{ account: { id: 1, name: 'Example Ltd' }, ...membership }],
};

export const Ways = Type.Object(
  {
    passwords: Type.Boolean({ description: 'Whether people sign in with a password.' }),
    oidc: Type.Array(Type.String(), { description: 'Names of the identity providers, in order.' }),
  },
  { title: 'Ways', description: 'How people sign in.' },
);
export type WaysView = Static<typeof Ways>;

export const SessionItem = Type.Object({
  id: id('Id of the session.'),
  created_at: time('When the person signed in.'),
  seen_at: time('Last request of the session, to the minute.'),
  ip: orNull(Type.String(), 'Address from which the person signed in.'),
  user_agent: orNull(Type.String(), 'What the browser calls itself.'),
  is_current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
});

export const SessionList = Type.Object(
  { sessions: Type.Array(SessionItem, { description: 'Sessions that have not ended.' }) },
  { title: 'SessionList', description: 'Sessions of the person, newest first.' },
);
export type SessionListView = Static<typeof SessionList>;

export const SESSION_LIST_EXAMPLE = {
  sessions: [
    {
      id: 7,
      created_at: '2026-11-21T08:00:00.000Z',
      seen_at: '2026-11-21T09:30:00.000Z',
      ip: '203.0.113.7',
      user_agent: 'Mozilla/5.0',
      is_current: true,
    },
  ],
};

export const SessionPath = Type.Object({
  session_id: Type.Integer({ minimum: 1, description: 'Id of the session.', examples: [7] }),
});

export function personView(person: PersonRecord): PersonView {
  return {
    id: person.id,
    email: person.email,
    name: person.name,
    is_operator: person.isOperator,
    is_active: person.isActive,
    created_at: timestamp(person.createdAt),
    last_seen_at: person.lastSeenAt === null ? null : timestamp(person.lastSeenAt),
  };
}

/** A person with their memberships. */
export async function sessionView(
  deps: {
    readonly book: Pick<BookKeys & BookSessions, 'keyCounts' | 'membershipsOf'>;
    readonly ledger: Ledger;
  },
  person: PersonRecord,
): Promise<SessionView> {
  const memberships = await deps.book.membershipsOf(person.id);
  return {
    person: personView(person),
    key: null,
    is_operator: person.isOperator,
    memberships: await Promise.all(
      memberships.map(async (member) => {
        // Without limits, Redis need not be asked, nor reachable.
        const [limits = []] =
          member.spendingLimits.length > 0 ? await memberLimits(deps, member.accountId, [member]) : [];
        return {
          account: { id: member.accountId, name: member.accountName },
          role: member.role,
          is_active: member.isActive,
          can_create_keys: member.canCreateKeys,
          spending_limits: wireLimits(member.spendingLimits),
          limits,
          active_keys: member.activeKeys,
        };
      }),
    ),
  };
}

/** The session of a key. */
export function keySessionView({ id, name, canManage }: KeyRecord): SessionView {
  return { person: null, key: { id, name, can_manage: canManage }, is_operator: false, memberships: [] };
}

/** The session of the operator's token. */
export const OPERATOR_SESSION: SessionView = { person: null, key: null, is_operator: true, memberships: [] };

export function sessionListView(sessions: readonly SessionRecord[], current: number): SessionListView {
  return {
    sessions: sessions.map(({ id, createdAt, seenAt, ip, userAgent }) => ({
      id,
      created_at: timestamp(createdAt),
      seen_at: timestamp(seenAt),
      ip,
      user_agent: userAgent,
      is_current: id === current,
    })),
  };
}
