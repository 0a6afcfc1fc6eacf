import { Button, Checkbox, TextInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { LinkView, PersonPageView, PersonView } from '../../../api/people/person-view.ts';
import { ask, made } from '../data/client.ts';
import { read } from '../data/query.ts';
import { agoWords } from '../format/duration.ts';
import { useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { Dialog } from '../ui/confirm.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Ago, Badge, Email, Empty } from '../ui/elements.tsx';
import { ClearFilters, Search } from '../ui/filters.tsx';
import { Page } from '../ui/page.tsx';
import { Paged, useCursor } from '../ui/pager.tsx';
import { Shown } from '../ui/shown.tsx';
import { ShownLink } from '../ui/shown-link.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { PEOPLE, PersonPanel } from './person.tsx';

const PAGE = 50;

/** Page of all people who sign in at the gateway, members of an account or not. */
export default function PeoplePage() {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const { search = '' } = choices;
  const after = useCursor();
  const [isCreating, setCreating] = useState(false);
  const asked = Object.entries({ limit: String(PAGE), after, search: search.trim() });
  const query = new URLSearchParams(asked.filter(([, value]) => value !== ''));
  const people = useQuery({
    ...read<PersonPageView>(scope, `${PEOPLE}?${query}`),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title="People" actions={<Button onClick={() => setCreating(true)}>Create person</Button>}>
      <p className="lead">
        Everybody who signs in at this gateway. To make somebody a member of an account, invite them on its
        Members page.
      </p>
      <search className="filters">
        <Search name="search" label="Search" placeholder="Name or e-mail" />
        <ClearFilters names={['search']} />
      </search>
      <Shown of={people}>
        {({ people: rows, next }) => (
          <Paged
            label="Pages of people"
            words={['Previous', 'Next']}
            next={next}
            isLoading={people.isFetching}
          >
            <Table
              label="People"
              columns={COLUMNS}
              rows={rows}
              rowKey={({ id }) => id}
              onOpen={({ id }) => choose({ person: String(id) })}
              found={foundWords(rows.length, next !== null)}
              empty={<Empty title={search === '' ? 'No people yet' : 'No results'} />}
            />
          </Paged>
        )}
      </Shown>
      {isCreating && <CreatePerson onClose={() => setCreating(false)} />}
      {choices.person !== undefined && (
        <PersonPanel
          key={choices.person}
          id={Number(choices.person)}
          onClose={() => choose({ person: '' })}
        />
      )}
    </Page>
  );
}

function foundWords(shown: number, isPaged: boolean): string {
  const words = shown === 1 ? '1 person' : `${shown} people`;
  return isPaged ? `${words} on this page, and more` : words;
}

const COLUMNS: readonly Column<PersonView>[] = [
  { id: 'email', title: 'E-mail', cell: ({ email }) => <Email address={email} /> },
  { id: 'name', title: 'Name', cell: ({ name }) => name || '–' },
  {
    id: 'status',
    title: 'Status',
    phone: 'figure',
    cell: ({ is_active }) =>
      is_active ? <Badge kind="good">Active</Badge> : <Badge kind="bad">Inactive</Badge>,
  },
  {
    id: 'operator',
    title: 'Operator',
    cell: ({ is_operator }) => (is_operator ? <Badge kind="plain">Operator</Badge> : '–'),
  },
  {
    id: 'seen',
    title: 'Last seen',
    cell: ({ last_seen_at: at }) => (at === null ? 'Never' : <Ago at={at} words={agoWords(at)} />),
  },
];

interface NewPerson {
  readonly email: string;
  readonly is_operator: boolean;
}

/** Dialog that creates a person, and then shows the link with which they set a password. */
function CreatePerson({ onClose }: { onClose: () => void }) {
  const [created, setCreated] = useState<LinkView & NewPerson>();
  const edit = useEdit<NewPerson, NewPerson, NewPerson>({
    what: 'person',
    labels: { email: 'E-mail address', is_operator: 'Operator' },
    stored: { email: '', is_operator: false },
    draftOf: (draft) => draft,
    read: ({ email, is_operator }) => ({
      body: { email: email.trim(), is_operator },
      faults: email.trim() === '' ? { email: 'Enter the e-mail address.' } : {},
    }),
    send: async (changes, base) => {
      const body = { ...base, ...changes };
      setCreated({ ...body, ...(await made('person', ask<LinkView>(PEOPLE, { method: 'POST', body }))) });
      return undefined;
    },
  });
  if (created) {
    const { email, is_operator, link, mailed } = created;
    return (
      <ShownLink
        title={is_operator ? 'Link for a new operator' : 'Person created'}
        label="Link"
        link={link}
        mailedTo={mailed ? email : undefined}
        lost="The link is shown only once."
        onDone={onClose}
      >
        {email} sets a password with it{is_operator && ', and is an operator from then on'}. It works once,
        for 24 hours.
      </ShownLink>
    );
  }
  return (
    <Dialog title="Create a person" onCancel={onClose}>
      <EditForm of={edit} verb="Create person" hint="The link is shown once, after this.">
        <div className="fields">
          <TextInput
            type="email"
            label="E-mail address"
            autoComplete="off"
            data-autofocus
            {...edit.input('email')}
          />
          <Checkbox
            label="Operator"
            description="Sees and changes everything of this gateway: accounts, credits, people."
            {...edit.tick('is_operator')}
          />
        </div>
      </EditForm>
    </Dialog>
  );
}
