import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { WaysView } from '../../../api/people/person-view.ts';
import { ask } from '../data/client.ts';
import { read, useChange } from '../data/query.ts';
import { ROLE_NAMES } from '../format/roles.ts';
import { ThemeChoice, ZoneChoice } from '../session/display.tsx';
import { NewPassword, Secret } from '../session/entry.tsx';
import { type Me, type Membership, meQuery } from '../session/me.ts';
import { given, newPassword, TextsForm, useTexts } from '../session/texts-form.tsx';
import { announce } from '../ui/announce.tsx';
import { Badge, Card } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { AskedButton } from './asked-button.tsx';
import { Identities } from './identities.tsx';
import { Sessions } from './sessions.tsx';

/** The person's own page: name, ways to sign in, sessions and memberships. */
export default function MePage() {
  const me = useQuery(meQuery);
  const ways = useQuery(read<WaysView>(undefined, '/api/session/ways/'));
  return (
    <Page title="Me">
      <Shown of={me}>
        {({ person, memberships }) =>
          person === null ? (
            <p>This session belongs to a key or the admin token, and not to a person.</p>
          ) : (
            <>
              <p className="lead">{person.email}</p>
              <div className="columns">
                <Card title="Name">
                  <NameForm name={person.name} />
                </Card>
                {ways.data?.passwords && (
                  <Card title="Password">
                    <PasswordForm />
                  </Card>
                )}
              </div>
              <Memberships person={person} memberships={memberships} />
              {ways.data && ways.data.oidc.length > 0 && <Identities names={ways.data.oidc} />}
              <Sessions />
              <Card title="Display">
                <div className="display">
                  <ThemeChoice />
                  <ZoneChoice />
                </div>
              </Card>
            </>
          )
        }
      </Shown>
    </Page>
  );
}

function NameForm({ name }: { name: string }) {
  const change = useChange((changed: string) => changePerson({ name: changed }));
  const { form, field } = useTexts(
    { name: given('your name') },
    async (texts) => {
      await change.mutateAsync(texts.name.trim());
      announce('Name changed.');
    },
    { initial: { name } },
  );
  return (
    <TextsForm {...form} verb="Save name">
      <TextInput {...field('name')} label="Name" autoComplete="name" />
    </TextsForm>
  );
}

const PASSWORDS = { current_password: undefined, password: newPassword };

function PasswordForm() {
  const change = useChange(changePerson);
  const { form, field, reset } = useTexts(PASSWORDS, async ({ current_password, password }) => {
    await change.mutateAsync({ password, ...(current_password !== '' && { current_password }) });
    reset();
    announce('Password changed. All your other sessions have ended.');
  });
  return (
    <TextsForm {...form} verb="Change password">
      <Secret
        {...field('current_password')}
        label="Current password"
        description="Leave it empty if you have none. You can set one within 10 minutes of a sign-in."
        autoComplete="current-password"
      />
      <NewPassword {...field('password')} label="New password" />
    </TextsForm>
  );
}

function changePerson(changes: { name?: string; password?: string; current_password?: string }) {
  return ask('/api/session/person/', { method: 'PATCH', body: changes });
}

/** The accounts of the person, which can be left. */
function Memberships({
  person,
  memberships,
}: {
  person: NonNullable<Me['person']>;
  memberships: readonly Membership[];
}) {
  const columns: readonly Column<Membership>[] = [
    {
      id: 'account',
      title: 'Account',
      cell: ({ account, is_active }) =>
        is_active ? <PageLink to={`/a/${account.id}/home`}>{account.name}</PageLink> : account.name,
    },
    { id: 'role', title: 'Role', cell: ({ role }) => ROLE_NAMES[role] },
    {
      id: 'status',
      title: 'Status',
      cell: ({ is_active }) => (
        <Badge kind={is_active ? 'good' : 'plain'}>{is_active ? 'Active' : 'Inactive'}</Badge>
      ),
    },
    {
      id: 'actions',
      title: 'Actions',
      cell: ({ account }) => (
        <AskedButton
          verb="Leave"
          name={`Leave ${account.name}`}
          title={`Leave ${account.name}?`}
          act={() => ask(`/api/account/members/${person.id}/`, { method: 'DELETE', account: account.id })}
          done={`You left ${account.name}.`}
        >
          You lose access to this account, and your keys in it stop working at once.
        </AskedButton>
      ),
    },
  ];
  return (
    <Card title="Accounts">
      <Table
        label="Accounts"
        columns={columns}
        rows={memberships}
        rowKey={({ account }) => account.id}
        empty={<p>You belong to no account. Ask for an invitation.</p>}
      />
    </Card>
  );
}
