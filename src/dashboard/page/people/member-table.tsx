import { useState } from 'react';
import { changeMember, type Member, removeMember } from '../api/people.ts';
import { useAction } from '../api/use-action.ts';
import { ROLE_NAMES } from '../format/words.ts';
import { LimitsLeft } from '../home/limits-left.tsx';
import { rolesGivenBy } from '../session/may.ts';
import { may, session } from '../session/session.ts';
import { announce } from '../ui/announcements.tsx';
import { Badge } from '../ui/elements.tsx';
import { FailureNote } from '../ui/note.tsx';
import { Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';
import { EditMember } from './edit-member.tsx';

/** The members of the account, with what the session may change of each. */
export function MemberTable({ of, onChanged }: { of: readonly Member[]; onChanged: () => void }) {
  const [edited, setEdited] = useState<Member>();
  const given = rolesGivenBy(session.value?.role ?? 'key');
  const me = session.value?.signedIn?.person.id;
  const reactivate = useAction(async ({ person }: Member) => {
    await changeMember(person.id, { is_active: true });
    announce(`${person.email} reactivated. Keys stay inactive.`);
    onChanged();
  });
  return (
    <>
      <FailureNote error={reactivate.error} />
      <Table label="Members" columns={['Person', 'Role', 'Status', 'Active keys', 'Limits', 'Actions']}>
        {of.map((member) => {
          const { id, email, name } = member.person;
          const isMe = id === me;
          return (
            <tr key={id}>
              <th scope="row">
                {name || email} {isMe && <Badge kind="plain">You</Badge>}
                {name && <p className="hint">{email}</p>}
              </th>
              <td>{ROLE_NAMES[member.role]}</td>
              <td>
                {member.is_active ? <Badge kind="good">Active</Badge> : <Badge kind="bad">Inactive</Badge>}
              </td>
              <td>{member.active_keys}</td>
              <td>{member.limits.length === 0 ? '–' : <LimitsLeft of={member.limits} />}</td>
              <td>
                {!isMe && may('change members') && given.includes(member.role) && (
                  <div className="actions">
                    <button type="button" onClick={() => setEdited(member)}>
                      Edit
                    </button>
                    {member.is_active ? (
                      <AskedButton
                        verb="Deactivate"
                        title={`Deactivate ${email}?`}
                        words="The person loses access to this account, and their keys are deactivated."
                        act={() => changeMember(id, { is_active: false })}
                        done={`${email} deactivated.`}
                        onDone={onChanged}
                      />
                    ) : (
                      <button type="button" onClick={() => void reactivate.run(member)}>
                        Reactivate
                      </button>
                    )}
                    <AskedButton
                      verb="Remove"
                      title={`Remove ${email}?`}
                      words="The person leaves this account, and their keys are deactivated."
                      act={() => removeMember(id)}
                      done={`${email} removed.`}
                      onDone={onChanged}
                    />
                  </div>
                )}
              </td>
            </tr>
          );
        })}
      </Table>
      {edited && (
        <EditMember
          of={edited}
          onDone={() => {
            setEdited(undefined);
            onChanged();
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
    </>
  );
}
