import { useQuery } from '@tanstack/react-query';
import type { SessionListView } from '../../../api/people/person-view.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { browserOf } from '../format/browser.ts';
import { Badge, Card, Time } from '../ui/elements.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';

type Session = SessionListView['sessions'][number];

const PATH = '/api/session/sessions/';
const endOf = (id: number) => ask(`${PATH}${id}/`, { method: 'DELETE' });

const COLUMNS: readonly Column<Session>[] = [
  {
    id: 'browser',
    title: 'Browser',
    cell: ({ user_agent, is_current }) => (
      <span className="session-name">
        {browserOf(user_agent)} {is_current && <Badge kind="plain">This one</Badge>}
      </span>
    ),
  },
  { id: 'ip', title: 'Address', cell: ({ ip }) => ip ?? '–' },
  { id: 'created', title: 'Signed in', cell: ({ created_at }) => <Time at={created_at} brief /> },
  { id: 'seen', title: 'Last used', cell: ({ seen_at }) => <Time at={seen_at} brief /> },
  {
    id: 'actions',
    title: 'Actions',
    cell: ({ id, user_agent, is_current }) =>
      !is_current && (
        <AskedButton
          verb="End"
          name={`End the session of ${browserOf(user_agent)}`}
          title="End this session?"
          act={() => endOf(id)}
          done="Session ended."
        >
          It is signed out at its next request.
        </AskedButton>
      ),
  },
];

/** The sessions of the person, each of which can be ended. */
export function Sessions() {
  const sessions = useQuery(read<SessionListView>(undefined, PATH));
  const others = sessions.data?.sessions.filter(({ is_current }) => !is_current) ?? [];
  return (
    <Card
      title="Sessions"
      actions={
        others.length > 0 && (
          <AskedButton
            verb="End all others"
            title="End all other sessions?"
            act={() => Promise.all(others.map(({ id }) => endOf(id)))}
            done="All other sessions ended."
          >
            They are signed out at their next request. This one stays.
          </AskedButton>
        )
      }
    >
      <Shown of={sessions}>
        {({ sessions: rows }) => (
          <Table label="Sessions" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
        )}
      </Shown>
    </Card>
  );
}
