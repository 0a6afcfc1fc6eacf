import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { LinkView, PersonPageView, PersonView } from '../../../api/people/person-view.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { read, useChange } from '../data/query.ts';
import { useScope } from '../session/scope.ts';
import { announce } from '../ui/announce.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Badge, Empty, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Failure, Note } from '../ui/note.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import { ShownLink } from '../ui/shown-link.tsx';
import '../style/people.css';

/** Path of the people in the API. */
export const PEOPLE = '/api/admin/people/';

/** Details of a person, and what the operator may change. */
export function PersonPanel({ id, onClose }: { id: number; onClose: () => void }) {
  const scope = useScope();
  // The first person above the id below it.
  const query = useQuery(read<PersonPageView>(scope, personPath(id)));
  const found = query.data?.people.find((person) => person.id === id);
  return (
    <Panel title={found?.name || found?.email || `Person ${id}`} onClose={onClose}>
      <Shown of={query}>
        {() => (found ? <Person of={found} /> : <Empty title="No person has this id" />)}
      </Shown>
    </Panel>
  );
}

function personPath(id: number): string {
  return `${PEOPLE}?limit=1&after=${id - 1}`;
}

/** A change of a person that is asked about, with its consequences. */
interface Asked {
  readonly verb: string;
  readonly words: string;
  readonly change: Partial<Pick<PersonView, 'is_operator' | 'is_active'>>;
}

function Person({ of: person }: { of: PersonView }) {
  const { me } = useScope();
  const [asked, setAsked] = useState<Asked>();
  const [link, setLink] = useState<LinkView>();
  const reset = useChange(async () =>
    setLink(await ask<LinkView>(`${PEOPLE}${person.id}/reset/`, { method: 'POST' })),
  );
  const isMe = person.id === me.person?.id;
  return (
    <div className="fields">
      {isMe && (
        <Note kind="info">
          <p>This is you. If you deactivate yourself, or stop being an operator, you lose these pages.</p>
        </Note>
      )}
      <div className="actions">
        {person.is_active && (
          <Button variant="default" loading={reset.isPending} onClick={() => reset.mutate()}>
            New password link
          </Button>
        )}
        <Button variant="default" onClick={() => setAsked(operatorChange(person))}>
          {operatorChange(person).verb}
        </Button>
        <Button variant="default" onClick={() => setAsked(activityChange(person))}>
          {activityChange(person).verb}
        </Button>
      </div>
      <Failure error={reset.error} />
      <Facts>
        <Fact name="Status">
          {person.is_active ? <Badge kind="good">Active</Badge> : <Badge kind="bad">Inactive</Badge>}{' '}
          {person.is_operator && <Badge kind="plain">Operator</Badge>}
        </Fact>
        <Fact name="Created">
          <Time at={person.created_at} />
        </Fact>
        <Fact name="Last seen">
          {person.last_seen_at === null ? 'Never' : <Time at={person.last_seen_at} />}
        </Fact>
        <Fact name="Person ID">{person.id}</Fact>
      </Facts>
      <PersonEdit of={person} />
      <p className="links">
        <PageLink to="audit" choices={{ actor: `person:${person.id}` }}>
          Audit: all by this person
        </PageLink>
        <PageLink to="audit" choices={{ target: `person:${person.id}` }}>
          Audit: all about this person
        </PageLink>
      </p>
      <Erase email={person.email} />
      {asked && (
        <Confirm
          title={`${asked.verb}: ${person.email}`}
          verb={asked.verb}
          danger={asked.change.is_active === false || asked.change.is_operator !== undefined}
          act={async () => {
            await ask(`${PEOPLE}${person.id}/`, { method: 'PATCH', body: asked.change });
            announce(`${person.email} changed.`);
          }}
          onClose={() => setAsked(undefined)}
        >
          <p>{asked.words}</p>
        </Confirm>
      )}
      {link && (
        <ShownLink
          title="New password"
          label="Link"
          link={link.link}
          mailedTo={link.mailed ? person.email : undefined}
          lost="The link is shown only once."
          onDone={() => setLink(undefined)}
        >
          {person.email} sets a new password with it. It works once, for 24 hours. Until then the old password
          works; afterwards all their sessions end.
        </ShownLink>
      )}
    </div>
  );
}

function operatorChange({ is_operator }: PersonView): Asked {
  if (is_operator) {
    return {
      verb: 'Remove as operator',
      words: 'The person loses the operator’s pages and API. Memberships of accounts stay.',
      change: { is_operator: false },
    };
  }
  return {
    verb: 'Make operator',
    words: 'An operator sees and changes everything of this gateway: accounts, credits, people.',
    change: { is_operator: true },
  };
}

function activityChange({ is_active }: PersonView): Asked {
  if (is_active) {
    return {
      verb: 'Deactivate',
      words:
        'The person is signed out everywhere and can’t sign in. Their keys of all accounts stop at once.',
      change: { is_active: false },
    };
  }
  return {
    verb: 'Reactivate',
    words: 'The person can sign in again. Their keys stay inactive until somebody reactivates them.',
    change: { is_active: true },
  };
}

type Names = Pick<PersonView, 'name' | 'email'>;

function PersonEdit({ of: person }: { of: PersonView }) {
  const edit = useEdit<PersonView, Names, Names>({
    what: 'person',
    labels: { name: 'Name', email: 'E-mail address' },
    stored: person,
    draftOf: ({ name, email }) => ({ name, email }),
    read: ({ name, email }) => ({
      body: { name: name.trim(), email: email.trim() },
      faults: email.trim() === '' ? { email: 'Enter the e-mail address.' } : {},
    }),
    choice: 'person',
    reread: async () => {
      const { people } = await ask<PersonPageView>(personPath(person.id));
      const found = people.find(({ id }) => id === person.id);
      if (!found) throw new ApiFailure(404, 'person_not_found', 'This person was erased.');
      return found;
    },
    send: (body) => ask<PersonView>(`${PEOPLE}${person.id}/`, { method: 'PATCH', body }),
  });
  return (
    <EditForm of={edit} hint="A new e-mail address is the one to sign in with.">
      <div className="fields">
        <TextInput label="Name" autoComplete="off" {...edit.input('name')} />
        <TextInput type="email" label="E-mail address" autoComplete="off" {...edit.input('email')} />
      </div>
    </EditForm>
  );
}

/** Erasing cannot be undone, so that it takes the command line. */
function Erase({ email }: { email: string }) {
  const command = `tollgate person erase ${email}`;
  return (
    <section>
      <h3>Erase</h3>
      <p className="hint">
        Ends memberships, sessions and keys, and removes name and addresses everywhere, for good. Only on the
        command line:
      </p>
      <p>
        <code>{command}</code> <CopyButton label="Command" value={command} />
      </p>
    </section>
  );
}
