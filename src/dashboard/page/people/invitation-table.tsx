import { type Invitation, withdrawInvitation } from '../api/people.ts';
import { ROLE_NAMES } from '../format/words.ts';
import { rolesGivenBy } from '../session/may.ts';
import { may, session } from '../session/session.ts';
import { Empty, Time } from '../ui/elements.tsx';
import { Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';

/** The invitations that nobody has accepted yet. */
export function InvitationTable({ of, onChanged }: { of: readonly Invitation[]; onChanged: () => void }) {
  const given = rolesGivenBy(session.value?.role ?? 'key');
  if (of.length === 0) return <Empty title="No open invitations" />;
  return (
    <Table label="Open invitations" columns={['For', 'Role', 'Expires', 'Actions']}>
      {of.map(({ id, email, role, expires_at }) => (
        <tr key={id}>
          <th scope="row">{email ?? 'anyone with the link'}</th>
          <td>{ROLE_NAMES[role]}</td>
          <td className="nowrap">
            <Time at={expires_at} brief />
          </td>
          <td>
            {may('change members') && given.includes(role) && (
              <AskedButton
                verb="Withdraw"
                title="Withdraw the invitation?"
                words="Its link stops working."
                act={() => withdrawInvitation(id)}
                done="Invitation withdrawn."
                onDone={onChanged}
              />
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}
