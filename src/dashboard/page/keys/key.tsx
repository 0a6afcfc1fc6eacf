import { Button, Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { ExplanationView } from '../../../api/explain/explanation-view.ts';
import type { KeyPatchBody, KeyView } from '../../../api/keys/key-view.ts';
import { bodyCarriesRestriction } from '../../../domain/key-settings.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { agoWords } from '../format/duration.ts';
import { STATUSES } from '../format/words.ts';
import { Explain } from '../requests/explain.tsx';
import { type Scope, useScope } from '../session/scope.ts';
import { useChoices } from '../ui/choices.ts';
import { Dialog } from '../ui/confirm.tsx';
import { EditForm, type Question, useEdit } from '../ui/edit.tsx';
import { Ago, Badge, Card, Empty, Fact, Facts, Time } from '../ui/elements.tsx';
import { PageLink } from '../ui/link.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Panel } from '../ui/panel.tsx';
import { Shown } from '../ui/shown.tsx';
import { UseKey } from '../use-key/use-key.tsx';
import { SwitchDialog } from './deactivate.tsx';
import { isOwnKey, useKeyApi } from './key-api.ts';
import {
  AccountKeyFields,
  CallLimitFields,
  ExpiryField,
  HourFields,
  LockField,
  ModelFields,
  NameField,
  NetworkFields,
  NoteField,
  SpendingField,
} from './key-form.tsx';
import { ownerOf } from './key-words.ts';
import { lockOutOf } from './lock-out.ts';
import { KeyOverview } from './overview.tsx';
import { PreviousValue } from './previous-value.tsx';
import {
  draftOf,
  type KeyField,
  LABELS,
  PARTS,
  type Part,
  readDraft,
  SHOWN_AT,
  settingWords,
} from './read-draft.ts';
import { RotateDialog } from './rotate.tsx';
import '../style/keys.css';

/** Page of one key: what it does, and its settings in parts, which the address names. */
export default function KeyPage() {
  const scope = useScope();
  const id = Number(useParams({ strict: false }).key);
  const key = useQuery(read<KeyView>(scope, useKeyApi(id).path));
  const back = scope.can('read keys')
    ? { to: 'keys', name: scope.reach('read keys') === 'own' ? 'My keys' : 'Keys' }
    : { to: 'home', name: 'Home' };
  const isUnknown = key.error instanceof ApiFailure && key.error.status === 404;
  if (isUnknown || !Number.isInteger(id)) {
    return (
      <Page title="Key" back={back}>
        <Empty title="Key not found">
          <p>There is no such key, or you may not see it.</p>
        </Empty>
      </Page>
    );
  }
  return (
    <Page
      title={key.data?.name ?? 'Key'}
      back={back}
      beside={key.data && <Head of={key.data} />}
      actions={key.data && <Actions of={key.data} />}
    >
      <Shown of={key}>
        {(data) => (
          <>
            <p className="lead">
              <code>{data.prefix}…</code> · Created <Time at={data.created_at} /> ·{' '}
              {data.last_used_at === null ? (
                'Never used'
              ) : (
                <>
                  Last used <Ago at={data.last_used_at} words={agoWords(data.last_used_at)} />
                </>
              )}
            </p>
            <PreviousValue of={data} canEnd={scope.can('change keys')} />
            <Parts key={data.id} of={data} />
          </>
        )}
      </Shown>
    </Page>
  );
}

function Head({ of: key }: { of: KeyView }) {
  const scope = useScope();
  const [words, kind] = STATUSES[key.status];
  return (
    <>
      <Badge kind={kind}>{words}</Badge>
      {key.can_manage && <Badge kind="plain">Manages</Badge>}
      {isOwnKey(scope, key) && <Badge kind="plain">Signed in</Badge>}
      {scope.reach('read keys') === 'all' && (
        <span className="hint">
          {key.member && scope.can('read members') ? (
            <PageLink to="members" choices={{ member: String(key.member.id) }}>
              {key.member.name}
            </PageLink>
          ) : (
            ownerOf(key)
          )}
        </span>
      )}
    </>
  );
}

function Actions({ of: key }: { of: KeyView }) {
  const scope = useScope();
  const [open, setOpen] = useState<'use' | 'explain' | 'rotate' | 'switch'>();
  const close = () => setOpen(undefined);
  const isLocked = isLockedFor(scope, key);
  return (
    <>
      <Button variant="default" onClick={() => setOpen('use')}>
        Use key
      </Button>
      {scope.can('explain calls') && (
        <Button variant="default" onClick={() => setOpen('explain')}>
          Explain
        </Button>
      )}
      {scope.can('change keys') && (
        <>
          <Button variant="default" onClick={() => setOpen('rotate')}>
            Rotate
          </Button>
          {(key.is_active || !isLocked) && (
            <Button variant="default" onClick={() => setOpen('switch')}>
              {key.is_active ? 'Deactivate' : 'Reactivate'}
            </Button>
          )}
        </>
      )}
      {open === 'use' && (
        <Dialog title={`Use “${key.name}”`} size="lg" onCancel={close}>
          <p className="hint">
            The value begins with <code>{key.prefix}</code>. It was shown once, when the key was created or
            rotated.
          </p>
          <UseKey />
        </Dialog>
      )}
      {open === 'explain' && (
        <Panel title="Explain a call" onClose={close}>
          <p className="hint panel-actions">
            Shows whether a call with this key would be accepted, and why not. Nothing is sent or charged.
          </p>
          <Explain keyId={key.id} />
        </Panel>
      )}
      {open === 'rotate' && <RotateDialog of={key} onClose={close} />}
      {open === 'switch' && <SwitchDialog of={key} onClose={close} />}
    </>
  );
}

/** True if the session may change no more than a key's name and note. */
function isLockedFor(scope: Scope, key: KeyView): boolean {
  return key.restrictions_locked && scope.reach('change keys') === 'own';
}

const NAMES = { overview: 'Overview', limits: 'Limits', access: 'Access', settings: 'Settings' } as const;
type PartOfPage = keyof typeof NAMES;

function Parts({ of: key }: { of: KeyView }) {
  const scope = useScope();
  const { choices, choose } = useChoices();
  const part = Object.keys(NAMES).find((name): name is PartOfPage => name === choices.part) ?? 'overview';
  const show = (next: string) => choose({ part: next === 'overview' ? '' : next }, 'replace');
  return (
    <Tabs value={part} onChange={(next) => next && show(next)}>
      <Tabs.List aria-label="Parts of the page" mb="md">
        {Object.entries(NAMES).map(([name, title]) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={part}>
        {part === 'overview' && <KeyOverview of={key} />}
        {scope.can('change keys') ? (
          <KeySettings of={key} part={part} show={show} />
        ) : (
          part !== 'overview' && (
            <Card title={NAMES[part]}>
              <p className="hint">You can see these settings, but not change them.</p>
              <KeyFacts of={key} fields={PARTS[part]} />
            </Card>
          )
        )}
      </Tabs.Panel>
    </Tabs>
  );
}

/** Settings of a key in words, for a session that may not change them. */
function KeyFacts({ of: key, fields }: { of: KeyView; fields: readonly KeyField[] }) {
  return (
    <Facts>
      {fields.map((field) => (
        <Fact key={field} name={LABELS[field]}>
          {field === 'spending_limits' ? allLimits(key) : settingWords(field, key[field])}
        </Fact>
      ))}
    </Facts>
  );
}

function allLimits(key: KeyView): string {
  const { spending_limit: credits, spending_period: period, spending_limits: others } = key;
  return settingWords('spending_limits', [...(credits === null ? [] : [{ period, credits }]), ...others]);
}

/** Form with the settings of a key, of which a part is shown; what is typed in the others stays. */
function KeySettings({ of: key, part, show }: { of: KeyView; part: PartOfPage; show: (part: Part) => void }) {
  const scope = useScope();
  const api = useKeyApi(key.id);
  const isOwn = isOwnKey(scope, key);
  const edit = useEdit({
    what: 'key',
    labels: LABELS,
    shownAt: SHOWN_AT,
    stored: key,
    draftOf,
    read: readDraft,
    isVersioned: true,
    reread: api.read,
    send: (changes, base) => api.patch(withManaging(changes, base), base),
    ask: (changes, base) => (isOwn ? lockOutQuestion(scope, base, changes) : Promise.resolve(undefined)),
    words: settingWords,
  });
  if (part === 'overview') return edit.dialogs;
  const isLocked = isLockedFor(scope, key);
  if (isLocked && part !== 'settings') {
    return (
      <Card title={NAMES[part]}>
        <LockedNote />
        <KeyFacts of={key} fields={PARTS[part]} />
        {edit.dialogs}
      </Card>
    );
  }
  const { person_id, member } = key;
  const changesAll = scope.reach('change keys') === 'all';
  return (
    <EditForm
      of={edit}
      hint="Changes apply at every gateway as soon as you save."
      onFault={(field) => {
        const other = (Object.keys(PARTS) as Part[]).find((name) => PARTS[name].some((one) => one === field));
        if (other && other !== part) show(other);
      }}
    >
      {part === 'limits' && (
        <Card title="Limits">
          <div className="fields">
            <SpendingField of={edit} />
            <CallLimitFields of={edit} />
          </div>
        </Card>
      )}
      {part === 'access' && (
        <>
          <Card title="Models">
            <div className="fields">
              <ModelFields of={edit} />
            </div>
          </Card>
          <Card title="Network">
            <div className="fields">
              <NetworkFields of={edit} />
            </div>
          </Card>
          <Card title="Active hours">
            <HourFields of={edit} />
          </Card>
        </>
      )}
      {part === 'settings' && (
        <Card title="Settings">
          <div className="fields">
            {isLocked && <LockedNote />}
            <NameField of={edit} />
            <NoteField of={edit} />
            {isLocked ? <KeyFacts of={key} fields={['expires_at']} /> : <ExpiryField of={edit} />}
            {person_id === null && <AccountKeyFields of={edit} />}
            {person_id !== null && changesAll && (
              <LockField of={edit} person={member?.name ?? 'Its member'} />
            )}
          </div>
        </Card>
      )}
      {edit.form.values.can_manage && bodyCarriesRestriction(readDraft(edit.form.values).body) && (
        <Note kind="warning">
          <p>
            A key that manages can lift its own restrictions. Turn off “Can manage” if you hand this key to
            somebody.
          </p>
        </Note>
      )}
    </EditForm>
  );
}

function LockedNote() {
  return (
    <Note kind="info">
      <p>
        An owner or admin of this account locked the restrictions of this key. You can change its name and
        note, rotate it and deactivate it. Ask them if it needs other limits.
      </p>
    </Note>
  );
}

/** Changes that restrict a managing key name `can_manage`, because the gateway would take it away otherwise. */
function withManaging(changes: Partial<KeyPatchBody>, { can_manage }: KeyView): KeyPatchBody {
  return can_manage && bodyCarriesRestriction(changes) ? { can_manage, ...changes } : changes;
}

/** Question before a change by which the session's own key locks itself out. */
async function lockOutQuestion(
  scope: Scope,
  key: KeyView,
  changes: Partial<KeyPatchBody>,
): Promise<Question | undefined> {
  const explain = () =>
    ask<ExplanationView>(`${scope.keysApi}${key.id}/explain/`, { method: 'POST', body: { model: 'any' } });
  const reasons = await lockOutOf(key, changes, location.origin, explain);
  if (reasons.length === 0) return undefined;
  const content: ReactNode = (
    <>
      <p>
        <strong>You are signed in with this key.</strong> Once this is saved, you may need another key that
        manages to undo it, or the operator:
      </p>
      <ul className="reasons">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
    </>
  );
  return { title: 'Lock yourself out?', verb: 'Save anyway', content };
}
