import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { InvitationListView, InvitationView } from '../../../api/people/invitation-view.ts';
import type { MemberListView, MemberView } from '../../../api/people/member-view.ts';
import { PERIOD_WORDS } from '../../../domain/limit-periods.ts';
import { ROLES } from '../../../domain/roles.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { agoWords } from '../format/duration.ts';
import { ROLE_NAMES } from '../format/roles.ts';
import { isReached, Left, usedPart } from '../limits/what-is-left.tsx';
import { type Scope, useScope } from '../session/scope.ts';
import { announce } from '../ui/announce.tsx';
import { type Choices, useChoices } from '../ui/choices.ts';
import { Confirm } from '../ui/confirm.tsx';
import { Ago, Badge, Bar, Card, Email, Empty, Time } from '../ui/elements.tsx';
import { Choice, ClearFilters, Search } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Invite } from './invite.tsx';
import { MemberPanel, MemberStatus } from './member.tsx';

const FILTERS = ['search', 'role', 'status'];

/** Members of an account, and its open invitations. */
export default function MembersPage() {
  const scope = useScope();
  const [isInviting, setInviting] = useState(false);
  const { choices, choose } = useChoices();
  const members = useQuery(read<MemberListView>(scope, `${scope.api}members/`));
  const opened = members.data?.members.find(({ person }) => String(person.id) === choices.member);
  return (
    <Page
      title="Members"
      actions={scope.can('change members') && <Button onClick={() => setInviting(true)}>Invite</Button>}
    >
      <search className="filters">
        <Search name="search" label="Search" placeholder="Name or e-mail" />
        <Choice name="role" label="Role" none="All" values={ROLES.map((role) => [role, ROLE_NAMES[role]])} />
        <Choice
          name="status"
          label="Status"
          none="All"
          values={[
            ['active', 'Active'],
            ['inactive', 'Inactive'],
          ]}
        />
        <ClearFilters names={FILTERS} />
      </search>
      <Shown of={members}>
        {({ members: all }) => {
          const rows = all.filter((member) => isWanted(member, choices));
          const words = `${count(all.length)} ${all.length === 1 ? 'member' : 'members'}`;
          const found = rows.length === all.length ? words : `${count(rows.length)} of ${words}`;
          return (
            <>
              <p className="hint">{found}</p>
              <Table
                label="Members"
                columns={columnsOf(scope)}
                rows={rows}
                rowKey={({ person }) => person.id}
                onOpen={({ person }) => choose({ member: String(person.id) })}
                initialSort="name"
                found={found}
                empty={all.length === 0 ? <NoMembers /> : <Empty title="No results" />}
              />
            </>
          );
        }}
      </Shown>
      <Invitations />
      {isInviting && <Invite onClose={() => setInviting(false)} />}
      {opened && <MemberPanel of={opened} onClose={() => choose({ member: '' })} />}
    </Page>
  );
}

function NoMembers() {
  return (
    <Empty title="No members yet">
      <p>Nobody signs in to this account. Its keys work without people; invite an owner to hand it over.</p>
    </Empty>
  );
}

function isWanted({ person, role, is_active }: MemberView, { search = '', ...asked }: Choices): boolean {
  if (asked.role !== undefined && role !== asked.role) return false;
  if (asked.status !== undefined && is_active !== (asked.status === 'active')) return false;
  return `${person.name}\n${person.email}`.toLowerCase().includes(search.trim().toLowerCase());
}

function columnsOf({ me }: Scope): readonly Column<MemberView>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      cell: ({ person: { id, name, email } }) => (
        <>
          {name || <Email address={email} />} {id === me.person?.id && <Badge kind="plain">You</Badge>}
          {name && (
            <span className="sub">
              <Email address={email} />
            </span>
          )}
        </>
      ),
      sort: ({ person }) => person.name || person.email,
    },
    {
      id: 'role',
      title: 'Role',
      cell: ({ role }) => ROLE_NAMES[role],
      sort: ({ role }) => ROLES.indexOf(role),
    },
    {
      id: 'status',
      title: 'Status',
      phone: 'figure',
      cell: ({ is_active }) => <MemberStatus isActive={is_active} />,
      sort: ({ is_active }) => Number(is_active),
    },
    {
      id: 'limit',
      title: 'Limit that ends first',
      cell: (member) => <NearestLimit of={member} />,
      sort: (member) => usedPart(nearest(member) ?? NO_LIMIT),
    },
    {
      id: 'keys',
      title: 'Active keys',
      kind: 'number',
      cell: ({ active_keys }) => count(active_keys),
      sort: ({ active_keys }) => active_keys,
    },
    {
      id: 'seen',
      title: 'Last seen',
      cell: ({ last_seen_at: at }) => (at === null ? 'Never' : <Ago at={at} words={agoWords(at)} />),
      sort: ({ last_seen_at: at }) => at ?? '',
    },
  ];
}

const NO_LIMIT = { spent: '0', credits: 1 } as MemberView['limits'][number];

/** The limit of a member of which the largest part is spent; undefined without limits. */
function nearest({ limits }: MemberView): MemberView['limits'][number] | undefined {
  return limits.toSorted((one, other) => usedPart(other) - usedPart(one))[0];
}

function NearestLimit({ of: member }: { of: MemberView }) {
  const limit = nearest(member);
  if (limit === undefined) return 'No limit';
  return (
    <div className="limit-left">
      <span>
        <Left of={limit} isInRow />, {PERIOD_WORDS[limit.period]}
      </span>
      <Bar part={usedPart(limit)} full={isReached(limit)} />
    </div>
  );
}

/** The invitations that nobody has accepted yet. */
function Invitations() {
  const scope = useScope();
  const query = useQuery(read<InvitationListView>(scope, `${scope.api}invitations/`));
  const [asked, setAsked] = useState<InvitationView>();
  const withdraw = async ({ id }: InvitationView) => {
    await ask(`${scope.api}invitations/${id}/`, { method: 'DELETE', account: scope.accountHeader });
    announce('Invitation withdrawn.');
  };
  const columns: readonly Column<InvitationView>[] = [
    {
      id: 'for',
      title: 'For',
      cell: ({ email, name, role }) => (
        <span>
          {email === null ? (name ?? 'Anyone with the link') : <Email address={email} />}
          <span className="sub">{ROLE_NAMES[role]}</span>
        </span>
      ),
    },
    { id: 'ends', title: 'Ends', cell: ({ expires_at }) => <Time at={expires_at} brief /> },
    {
      id: 'withdraw',
      title: 'Withdraw',
      cell: (invitation) =>
        scope.can('change members') && scope.givenRoles.includes(invitation.role) ? (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={`Withdraw the invitation of ${invitation.email ?? 'anyone with the link'}`}
            onClick={() => setAsked(invitation)}
          >
            Withdraw
          </Button>
        ) : (
          'Only by an owner or admin'
        ),
    },
  ];
  return (
    <Card title="Open invitations">
      <Shown of={query}>
        {({ invitations }) => (
          <Table
            label="Open invitations"
            columns={columns}
            rows={invitations}
            rowKey={({ id }) => id}
            empty={<p className="hint">None. An invitation is listed until it is accepted, or for 7 days.</p>}
          />
        )}
      </Shown>
      {asked && (
        <Confirm
          title="Withdraw the invitation?"
          verb="Withdraw"
          danger
          act={() => withdraw(asked)}
          onClose={() => setAsked(undefined)}
        >
          <p>Its link stops working.</p>
        </Confirm>
      )}
    </Card>
  );
}
