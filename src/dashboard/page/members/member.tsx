import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { EntryView } from '../../../api/audit/audit-view.ts';
import type { KeyListView } from '../../../api/keys/key-view.ts';
import type { MemberListView, MemberView } from '../../../api/people/member-view.ts';
import { auditPath } from '../audit/audit-path.ts';
import { ACTION_WORDS, actorWords, targetWords } from '../audit/words.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { count } from '../format/credits.ts';
import { ROLE_NAMES } from '../format/roles.ts';
import { WhatIsLeft } from '../limits/what-is-left.tsx';
import { type Scope, useScope } from '../session/scope.ts';
import { announce } from '../ui/announce.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Badge, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import {
  OFFER_LABELS,
  OfferFields,
  offerDraft,
  offerWords,
  readOffer,
  roleSentence,
} from './member-form.tsx';
import '../style/people.css';

/** Details of a member, and what the session may change of them. */
export function MemberPanel({ of: member, onClose }: { of: MemberView; onClose: () => void }) {
  const scope = useScope();
  const { person, limits } = member;
  const [asked, setAsked] = useState<'deactivate' | 'reactivate' | 'remove'>();
  const reason = whyNot(member, scope);
  return (
    <Panel
      title={person.name || person.email}
      onClose={onClose}
      actions={
        reason === undefined && (
          <>
            <Button
              variant="default"
              onClick={() => setAsked(member.is_active ? 'deactivate' : 'reactivate')}
            >
              {member.is_active ? 'Deactivate' : 'Reactivate'}
            </Button>
            <Button variant="default" onClick={() => setAsked('remove')}>
              Remove
            </Button>
          </>
        )
      }
    >
      <div className="parts">
        {reason && (
          <Note kind="info">
            <p>{reason}</p>
          </Note>
        )}
        <Facts>
          <Fact name="E-mail">{person.email}</Fact>
          <Fact name="Status">
            <MemberStatus isActive={member.is_active} />
          </Fact>
          <Fact name="Member since">
            <Time at={member.created_at} />
          </Fact>
          <Fact name="Last seen">
            {member.last_seen_at === null ? 'Never' : <Time at={member.last_seen_at} />}
          </Fact>
          <Fact name="Active keys">
            {scope.can('read keys') ? (
              <PageLink to="keys" choices={{ person_id: String(person.id) }}>
                {keysWords(member.active_keys)}
              </PageLink>
            ) : (
              keysWords(member.active_keys)
            )}
          </Fact>
          {reason !== undefined && <OfferFacts of={member} />}
        </Facts>
        {limits.length > 0 && (
          <section>
            <h3>What is left</h3>
            <WhatIsLeft limits={limits} yours={person.id === scope.me.person?.id ? ['member'] : []} />
          </section>
        )}
        {reason === undefined && <MemberEdit key={person.id} of={member} />}
        {scope.can('read the audit log') && <LatestEntries of={member} />}
      </div>
      {asked === 'remove' && <EndQuestion of={member} verb="Remove" onClose={() => setAsked(undefined)} />}
      {asked === 'deactivate' && (
        <EndQuestion of={member} verb="Deactivate" onClose={() => setAsked(undefined)} />
      )}
      {asked === 'reactivate' && (
        <Confirm
          title={`Reactivate ${person.email}?`}
          verb="Reactivate"
          act={async () => {
            await ask(pathOf(scope, person.id), {
              method: 'PATCH',
              body: { is_active: true },
              account: scope.accountHeader,
            });
            announce(`${person.email} reactivated.`);
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>
            The person can use the account again. Their keys stay inactive until somebody reactivates them.
          </p>
        </Confirm>
      )}
    </Panel>
  );
}

export function MemberStatus({ isActive }: { isActive: boolean }) {
  return isActive ? <Badge kind="good">Active</Badge> : <Badge kind="bad">Inactive</Badge>;
}

/** Why the session can't change a member; undefined if it can. The gateway decides again. */
function whyNot({ person, role }: MemberView, { kind, can, givenRoles, me }: Scope): string | undefined {
  if (kind === 'operated')
    return 'The owners and admins of the account change its members. You can invite people.';
  if (!can('change members')) return 'Owners and admins of the account change its members.';
  if (person.id === me.person?.id) {
    return role === 'owner'
      ? 'This is you. Nobody changes their own membership: ask another owner. If you are the last owner, make another one before you leave.'
      : 'This is you. Nobody changes their own membership: ask another owner or admin. You can leave the account on your own page.';
  }
  return givenRoles.includes(role) ? undefined : 'Only an owner changes owners and admins.';
}

function OfferFacts({ of: member }: { of: MemberView }) {
  return (
    <>
      <Fact name="Role">
        {ROLE_NAMES[member.role]}
        <span className="sub">{roleSentence(member.role)}</span>
      </Fact>
      {member.role === 'member' && (
        <Fact name="Can create keys">{member.can_create_keys ? 'Yes' : 'No'}</Fact>
      )}
      {member.limits.length === 0 && <Fact name="Spending limits">None</Fact>}
    </>
  );
}

function MemberEdit({ of: member }: { of: MemberView }) {
  const { api, accountHeader: account } = useScope();
  const { id } = member.person;
  const edit = useEdit({
    what: 'member',
    labels: OFFER_LABELS,
    stored: member,
    draftOf: offerDraft,
    read: readOffer,
    choice: 'member',
    reread: async () => {
      const { members } = await ask<MemberListView>(`${api}members/`, { account });
      const found = members.find(({ person }) => person.id === id);
      if (!found) throw new ApiFailure(404, 'member_not_found', 'This person is not a member any more.');
      return found;
    },
    send: (body) => ask<MemberView>(`${api}members/${id}/`, { method: 'PATCH', body, account }),
    words: offerWords,
  });
  return (
    <section>
      <h3>Role and limits</h3>
      <EditForm of={edit} hint="Applies from the next call on.">
        <div className="fields">
          <OfferFields of={edit} />
        </div>
      </EditForm>
    </section>
  );
}

/** Names that the question lists. */
const NAMED = 5;

/** Question before a membership ends or is deactivated: it says which keys stop. */
function EndQuestion({
  of: { person, active_keys },
  verb,
  onClose,
}: {
  of: MemberView;
  verb: 'Remove' | 'Deactivate';
  onClose: () => void;
}) {
  const scope = useScope();
  // As the dialog was opened for: the page may show the new state before the dialog is closed.
  const [stopping] = useState(active_keys);
  const keys = useQuery({
    ...read<KeyListView>(scope, `${scope.keysApi}?person_id=${person.id}&status=active&limit=${NAMED}`),
    enabled: stopping > 0,
  });
  const names = keys.data?.keys.map(({ name }) => `“${name}”`) ?? [];
  const act = async () => {
    const path = pathOf(scope, person.id);
    const account = scope.accountHeader;
    if (verb === 'Remove') await ask(path, { method: 'DELETE', account });
    else await ask(path, { method: 'PATCH', body: { is_active: false }, account });
    announce(`${person.email} ${verb.toLowerCase()}d.`);
  };
  return (
    <Confirm title={`${verb} ${person.email}?`} verb={verb} danger act={act} onClose={onClose}>
      <p>
        {verb === 'Remove'
          ? 'The person leaves the account. To bring them back, invite them again.'
          : 'The person can’t use the account until you reactivate them.'}
      </p>
      {stopping === 0 ? (
        <p>They have no active keys.</p>
      ) : (
        <p>
          <strong>
            {keysWords(stopping)} {stopping === 1 ? 'stops' : 'stop'} at once
          </strong>
          {names.length > 0 && `: ${names.join(', ')}${stopping > names.length ? ' and others' : ''}`}.
        </p>
      )}
    </Confirm>
  );
}

function keysWords(amount: number): string {
  return `${count(amount)} active ${amount === 1 ? 'key' : 'keys'}`;
}

function pathOf({ api }: Scope, personId: number): string {
  return `${api}members/${personId}/`;
}

/** Entries of a member that the panel shows. */
const ENTRIES = 5;

/** The latest entries of the audit log by a person, and about their membership. */
function LatestEntries({ of: { person } }: { of: MemberView }) {
  const scope = useScope();
  const of = (filter: Record<string, string>) =>
    read<{ entries: readonly EntryView[] }>(scope, auditPath(scope, { ...filter, limit: String(ENTRIES) }));
  const by = useQuery(of({ actor: `person:${person.id}` }));
  const about = useQuery(of({ target: `member:${person.id}` }));
  return (
    <section>
      <h3>Audit</h3>
      <Shown of={by}>
        {({ entries }) => {
          const all = new Map([...entries, ...(about.data?.entries ?? [])].map((entry) => [entry.id, entry]));
          const latest = [...all.values()].sort((one, other) => other.id - one.id).slice(0, ENTRIES);
          if (latest.length === 0) return <p className="hint">No entries.</p>;
          return (
            <ul className="entries">
              {latest.map((entry) => (
                <li key={entry.id}>
                  <Time at={entry.at} brief />{' '}
                  <PageLink to="audit" choices={{ entry: String(entry.id) }}>
                    {[ACTION_WORDS[entry.action], targetWords(entry.target)].filter(Boolean).join(': ')}
                  </PageLink>
                  {entry.actor.id !== person.id && (
                    <span className="hint"> by {actorWords(entry.actor)}</span>
                  )}
                </li>
              ))}
            </ul>
          );
        }}
      </Shown>
      <p className="links">
        <PageLink to="audit" choices={{ actor: `person:${person.id}` }}>
          All by this person
        </PageLink>
        <PageLink to="audit" choices={{ target: `member:${person.id}` }}>
          All about this member
        </PageLink>
      </p>
    </section>
  );
}
