import type { BookKeys } from '../../book/keys.ts';
import type { Member } from '../../book/members.ts';
import { spendingLimits } from '../../domain/key-readers.ts';
import { timestamp } from '../../domain/period.ts';
import { ROLES } from '../../domain/roles.ts';
import { boolean, fieldSchemas, oneOf, patched, required, section } from '../../domain/shape.ts';
import { wireLimits } from '../../domain/spending-limits.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { memberLimits } from '../account/member-limits.ts';
import { LIMIT_EXAMPLE, Limit } from '../keys/limit-view.ts';
import { id, time, timeOrNull } from '../openapi/fields.ts';
import { type Static, Type } from '../openapi/json-type.ts';

/** What a membership and an invitation to it say about the member. */
export const MEMBER_FIELDS = {
  role: required(oneOf(...ROLES), 'What the member may: see the table of roles in docs/people.md.'),
  can_create_keys: required(boolean, 'Whether a member with the role `member` can create keys.'),
  spending_limits: required(
    spendingLimits,
    "Spending limits of the member's keys together, at most one for each period. Empty: none.",
  ),
};

const is_active = required(
  boolean,
  "false: the person can't use the account, and their keys of it are inactive from the answer on.",
);

export const MemberPatch = section(patched({ ...MEMBER_FIELDS, is_active }), {
  title: 'MemberPatch',
  description: 'The fields to change; others stay as they are.',
});

const { role, ...others } = fieldSchemas({ ...MEMBER_FIELDS, is_active });

export const MemberSchema = Type.Object(
  {
    person: Type.Object(
      {
        id: id('Id of the person.'),
        email: Type.String({ description: 'E-mail address of the person.' }),
        name: Type.String({ description: 'Name of the person.' }),
      },
      { description: 'The person.' },
    ),
    role,
    ...others,
    limits: Type.Array(Limit, {
      description: "The member's spending limits, with what is left of each.",
    }),
    active_keys: Type.Integer({
      minimum: 0,
      description: "Number of the person's active keys in the account.",
    }),
    created_at: time('When the person became a member.'),
    last_seen_at: timeOrNull('Last request of the person with a session, to the minute; null: none.'),
  },
  { title: 'Member', description: "A person's membership of an account." },
);

export type MemberView = Static<typeof MemberSchema>;

export const MemberList = Type.Object(
  { members: Type.Array(MemberSchema) },
  { title: 'MemberList', description: 'Members of the account, including inactive ones, by time.' },
);

export type MemberListView = Static<typeof MemberList>;

export const MEMBER_EXAMPLE = {
  person: { id: 2, email: 'ada@example.com', name: 'Ada' },
  role: 'member' as const,
  is_active: true,
  can_create_keys: true,
  spending_limits: [{ period: 'monthly' as const, credits: 10 }],
  limits: [{ ...LIMIT_EXAMPLE, of: 'member' as const }],
  active_keys: 1,
  created_at: '2026-11-21T08:00:00.000Z',
  last_seen_at: '2026-11-21T09:30:00.000Z',
};

export const PersonPath = Type.Object({
  person_id: Type.Integer({ minimum: 1, description: 'Id of the person.', examples: [2] }),
});

export const Deleted = Type.Object(
  { deleted: Type.Literal(true, { description: 'It has ended.' }) },
  { title: 'Deleted', description: 'It has ended.' },
);

/** Views of members of one account, with the spending of all their calls so far. */
export async function memberViews(
  deps: { readonly book: Pick<BookKeys, 'keyCounts'>; readonly ledger: Ledger },
  accountId: number,
  members: readonly Member[],
): Promise<MemberView[]> {
  await deps.ledger.flush(accountId);
  const limits = await memberLimits(deps, accountId, members);
  return members.map((member, index) => ({
    person: member.person,
    role: member.role,
    is_active: member.isActive,
    can_create_keys: member.canCreateKeys,
    spending_limits: wireLimits(member.spendingLimits),
    limits: limits[index] ?? [],
    active_keys: member.activeKeys,
    created_at: timestamp(member.createdAt),
    last_seen_at: member.lastSeenAt === null ? null : timestamp(member.lastSeenAt),
  }));
}
