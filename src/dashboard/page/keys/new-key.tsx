import { Button } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { CreatedKeyView, KeyListView, KeyPatchBody } from '../../../api/keys/key-view.ts';
import type { MemberView } from '../../../api/people/member-view.ts';
import { gatewayUrl } from '../base.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ANSWER_LOST, ask, made } from '../data/client.ts';
import { wordsOf } from '../data/failure-words.ts';
import { read } from '../data/query.ts';
import { limitWords } from '../limits/limit-rows.ts';
import { type Scope, useScope } from '../session/scope.ts';
import { CopyButton } from '../ui/copy.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Card, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import {
  AccountKeyFields,
  CallLimitFields,
  ExpiryField,
  HourFields,
  ModelFields,
  NameField,
  NetworkFields,
  NoteField,
  OwnerField,
  SpendingField,
} from './key-form.tsx';
import {
  type KeyDraft,
  type KeyField,
  LABELS,
  NEW_KEY,
  PARTS,
  readDraft,
  SHOWN_AT,
  settingWords,
} from './read-draft.ts';
import { ShownOnce } from './shown-once.tsx';
import '../style/keys.css';

const LOST = 'The key value is shown only once. If you do not save it now, you have to create another key.';

/** A key that was made, with what was asked for. */
interface Made {
  readonly key: CreatedKeyView;
  readonly body: KeyPatchBody;
  /** Name of the person whose key it is. */
  readonly person: string | undefined;
}

/** Page that makes a key in three fields; the other settings are folded. */
export default function NewKeyPage() {
  const scope = useScope();
  const isOwn = scope.reach('change keys') === 'own';
  const members = useMembers(scope);
  const navigate = useNavigate();
  const [personId, setPersonId] = useState('');
  const [made, setMade] = useState<Made>();
  const person = members.find(({ id }) => String(id) === personId);
  const isOfPerson = isOwn || person !== undefined;
  const edit = useEdit<KeyDraft, KeyDraft, KeyPatchBody>({
    what: 'key',
    labels: LABELS,
    shownAt: SHOWN_AT,
    stored: NEW_KEY,
    draftOf: (draft) => draft,
    read: readDraft,
    send: async (changes) => {
      const { can_manage = false, webhook_url, ...settings } = changes;
      const body = isOfPerson
        ? settings
        : { ...settings, can_manage, ...(webhook_url !== undefined && { webhook_url }) };
      const key = await createKey(scope, { ...body, ...(person && { person_id: person.id }) });
      setMade({ key, body, person: person?.name });
      return undefined;
    },
  });
  const isLost = edit.failure instanceof ApiFailure && edit.failure.code === ANSWER_LOST;
  return (
    <Page title="Create key" back={{ to: 'keys', name: isOwn ? 'My keys' : 'Keys' }}>
      <EditForm
        of={edit}
        verb="Create key"
        hint="Its value is shown once, after this."
        {...(isLost && { failure: <LostAnswer error={edit.failure} name={edit.form.values.name.trim()} /> })}
      >
        <Card title={isOwn ? 'A key of your own' : 'A new key'}>
          <div className="fields">
            <NameField of={edit} />
            {!isOwn && members.length > 0 && (
              <OwnerField members={members} value={personId} onValue={setPersonId} />
            )}
            <SpendingField of={edit} label="Spending limit" />
            <details className="more-settings">
              <summary>More settings</summary>
              <div className="fields">
                <NoteField of={edit} />
                <ExpiryField of={edit} />
                <ModelFields of={edit} />
                <CallLimitFields of={edit} />
                <NetworkFields of={edit} />
                <HourFields of={edit} />
                {!isOfPerson && <AccountKeyFields of={edit} />}
              </div>
            </details>
          </div>
        </Card>
      </EditForm>
      {made && (
        <ShownOnce
          title={`The key “${made.key.name}”`}
          of={made.key}
          lost={LOST}
          onDone={() =>
            void navigate({ to: `${scope.path}/keys/${made.key.id}` as never, ignoreBlocker: true })
          }
        >
          <HandOver of={made} />
        </ShownOnce>
      )}
    </Page>
  );
}

/** Active members for whom the session may make keys; none for a member. */
function useMembers(scope: Scope): readonly { readonly id: number; readonly name: string }[] {
  const isAsked = scope.reach('change keys') === 'all' && scope.can('read members');
  const { data } = useQuery({
    ...read<{ members: MemberView[] }>(scope, `${scope.api}members/`),
    enabled: isAsked,
  });
  const active = data?.members.filter(({ is_active }) => is_active) ?? [];
  return active.map(({ person: { id, name, email } }) => ({ id, name: name || email }));
}

function createKey({ keysApi, accountHeader: account }: Scope, body: unknown): Promise<CreatedKeyView> {
  return made('key', ask(keysApi, { method: 'POST', body, account }));
}

/** A message for whoever gets the key: where it works, its value, and what it may do. */
function HandOver({ of: { key, body, person } }: { of: Made }) {
  const whom = person ?? 'somebody else';
  return (
    <div>
      <p className="hint">
        To hand it over: a message with the base URL, the value, and what this key may do.
      </p>
      <CopyButton label={`message for ${whom}`} text={`Copy for ${whom}`} value={handOverText(key, body)} />
    </div>
  );
}

/** Text of the message for whoever gets the key. */
export function handOverText({ name, key }: CreatedKeyView, body: KeyPatchBody): string {
  const { spending_limit: credit, spending_period: period = 'monthly', spending_limits: others = [] } = body;
  const limits = [...(typeof credit === 'number' ? [{ period, credits: credit }] : []), ...others];
  const may = [
    ...limits.map((limit) => `It can spend ${limitWords(limit)}.`),
    ...FIELDS.filter((field) => field in body).map(
      (field) => `${LABELS[field]}: ${settingWords(field, body[field])}.`,
    ),
  ];
  const limited = may.length === 0 ? 'It has no limits of its own.' : may.join('\n');
  return `Your API key “${name}”: ${key}\nBase URL: ${gatewayUrl('/v1')}\n${limited} Keep it to yourself.`;
}

/** Settings that the message names. */
const FIELDS: readonly KeyField[] = [
  ...PARTS.access,
  'rpm_limit',
  'tpm_limit',
  'max_parallel_requests',
  'expires_at',
];

/**
 * Note for a creation whose answer was lost. It looks for the key by its name, because trying again would create a second
 * key that works as well.
 */
function LostAnswer({ error, name }: { error: unknown; name: string }) {
  const { keysApi, accountHeader: account } = useScope();
  const look = useMutation({
    mutationFn: async () => {
      const query = new URLSearchParams({ search: name });
      const { keys } = await ask<KeyListView>(`${keysApi}?${query}`, { account });
      return keys.filter((key) => key.name === name).toReversed();
    },
  });
  const found = look.data;
  return (
    <Note kind="danger">
      <p>{wordsOf(error)}</p>
      {found?.length === 0 && <p>No key is named “{name}”: it was not created. Create it again.</p>}
      {found && found.length > 0 && (
        <>
          <p>There is a key of this name. If it is the one, deactivate it, as nobody has its value:</p>
          <ul className="reasons">
            {found.slice(0, 5).map((key) => (
              <li key={key.id}>
                <PageLink to={`keys/${key.id}`}>{key.name}</PageLink> <code>{key.prefix}…</code>, created{' '}
                <Time at={key.created_at} seconds />
              </li>
            ))}
          </ul>
        </>
      )}
      {look.error !== null && <p>{wordsOf(look.error)}</p>}
      <Button size="xs" variant="default" loading={look.isPending} onClick={() => look.mutate()}>
        {found === undefined ? 'Look for it in your keys' : 'Look again'}
      </Button>
    </Note>
  );
}
