import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { IdentityListView } from '../../../api/people/identity-view.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { goToProvider } from '../session/entry.tsx';
import { Card, Time } from '../ui/elements.tsx';
import { Failure } from '../ui/note.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';

type Identity = IdentityListView['identities'][number];

const PATH = '/api/session/identities/';
const providerOf = ({ name, issuer }: Identity) => name ?? issuer;

const COLUMNS: readonly Column<Identity>[] = [
  { id: 'provider', title: 'Provider', cell: providerOf },
  { id: 'email', title: 'E-mail address there', cell: ({ email }) => email ?? '–' },
  {
    id: 'linked',
    title: 'Linked',
    cell: ({ created_at }) => <Time at={created_at} brief />,
    phone: 'hidden',
  },
  {
    id: 'actions',
    title: 'Actions',
    cell: (identity) => (
      <AskedButton
        verb="Unlink"
        name={`Unlink ${providerOf(identity)}`}
        title={`Unlink ${providerOf(identity)}?`}
        act={() => ask(`${PATH}${identity.id}/`, { method: 'DELETE' })}
        done="Provider unlinked."
      >
        You can't sign in with it any more.
      </AskedButton>
    ),
  },
];

/** The providers with which the person signs in, and those that can be linked. */
export function Identities({ names }: { names: readonly string[] }) {
  const identities = useQuery(read<IdentityListView>(undefined, PATH));
  const link = useMutation({ mutationFn: (name: string) => goToProvider(name, { link: true }) });
  return (
    <Card
      title="Sign-in providers"
      actions={names.map((name) => (
        <Button key={name} size="compact-sm" variant="default" onClick={() => link.mutate(name)}>
          Link {name}
        </Button>
      ))}
    >
      <Failure error={link.error} />
      <Shown of={identities}>
        {({ identities: rows }) => (
          <Table
            label="Linked providers"
            columns={COLUMNS}
            rows={rows}
            rowKey={({ id }) => id}
            empty={<p>None is linked. You can link one within 10 minutes of a sign-in.</p>}
          />
        )}
      </Shown>
    </Card>
  );
}
