import { endSessions, readSessions } from '../api/people.ts';
import { useLoad } from '../api/use-load.ts';
import { signOut } from '../session/session.ts';
import { Badge, Section, Time } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';
import { Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';

/** The person's sessions, each of which can be ended. */
export function Sessions() {
  const loaded = useLoad(readSessions);
  return (
    <Section title="Sessions">
      <Shown of={loaded}>
        {(sessions) => (
          <Table label="Sessions" columns={['Client', 'Address', 'Signed in', 'Last used', 'Actions']}>
            {sessions.map(({ id, user_agent, ip, created_at, seen_at, is_current }) => (
              <tr key={id}>
                <th scope="row" className="clip">
                  {user_agent || '–'} {is_current && <Badge kind="plain">This one</Badge>}
                </th>
                <td>{ip ?? '–'}</td>
                <td className="nowrap">
                  <Time at={created_at} brief />
                </td>
                <td className="nowrap">
                  <Time at={seen_at} brief />
                </td>
                <td>
                  {!is_current && (
                    <AskedButton
                      verb="End"
                      title="End this session?"
                      words="It is signed out at its next request."
                      act={() => endSessions(id)}
                      done="Session ended."
                      onDone={loaded.reload}
                    />
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Shown>
      <div className="actions below-table">
        <AskedButton
          verb="End all sessions"
          title="End all sessions?"
          words="You are signed out everywhere, here too."
          act={() => endSessions()}
          done="All sessions ended."
          onDone={() => signOut()}
        />
      </div>
    </Section>
  );
}
