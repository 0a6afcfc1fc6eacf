import { TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { AccountPatchBody, OperatorAccountView } from '../../../api/account/account-view.ts';
import { ask } from '../data/client.ts';
import { read } from '../data/query.ts';
import { CALL_LIMITS } from '../format/call-limits.ts';
import { LimitsEditor } from '../limits/editor.tsx';
import { useScope } from '../session/scope.ts';
import { type Edit, EditForm, useEdit } from '../ui/edit.tsx';
import { Card } from '../ui/elements.tsx';
import { Page } from '../ui/page.tsx';
import { Shown } from '../ui/shown.tsx';
import { type AccountDraft, draftOf, LABELS, readDraft, settingWords } from './account-draft.ts';

/** The settings of an account that only the operator may change, and those of its owner. */
export default function AccountSettingsPage() {
  const scope = useScope();
  const account = useQuery(read<OperatorAccountView>(scope, scope.api));
  return (
    <Page
      title="Settings"
      part={account.data?.name}
      back={{ to: 'home', name: account.data?.name ?? 'Account' }}
    >
      <Shown of={account}>{(stored) => <Settings of={stored} />}</Shown>
    </Page>
  );
}

function Settings({ of: stored }: { of: OperatorAccountView }) {
  const path = `/api/admin/accounts/${stored.id}/` as const;
  const edit = useEdit<OperatorAccountView, AccountDraft, AccountPatchBody>({
    what: 'account',
    labels: LABELS,
    stored,
    draftOf,
    read: readDraft,
    reread: () => ask<OperatorAccountView>(path),
    send: (body) => ask<OperatorAccountView>(path, { method: 'PATCH', body }),
    words: settingWords,
  });
  return (
    <EditForm of={edit} hint="Changes apply at every gateway as soon as you save.">
      <Card title="Account">
        <div className="fields">
          <TextInput label={LABELS.name} {...edit.input('name')} />
          <TextInput
            type="email"
            label={LABELS.email}
            description="Alerts include it. Signing in is by the addresses of the members."
            {...edit.input('email')}
          />
        </div>
      </Card>
      <Card title="Credits">
        <div className="fields">
          <ThresholdField of={edit} />
          <OverdraftField of={edit} />
        </div>
      </Card>
      <Card title="Limits of all keys together">
        <div className="fields">
          <AccountLimitFields of={edit} placeholder="No limit" />
        </div>
      </Card>
    </EditForm>
  );
}

/** Edit of a draft with the fields that new and stored accounts share. */
type Of<Draft extends AccountDraft> = { readonly of: Edit<Draft> };

export function ThresholdField<Draft extends AccountDraft>({
  of: edit,
  hint = 'The owner is alerted when the balance falls below this, and can change it.',
}: Of<Draft> & { hint?: ReactNode }) {
  return (
    <TextInput
      label={LABELS.alert_threshold}
      description={hint}
      inputMode="decimal"
      autoComplete="off"
      {...edit.input('alert_threshold')}
    />
  );
}

export function OverdraftField<Draft extends AccountDraft>({
  of: edit,
  isDefault = false,
}: Of<Draft> & { isDefault?: boolean }) {
  return (
    <TextInput
      label={LABELS.overdraft}
      description={`How far below 0 calls in flight can take the balance.${isDefault ? ' Leave empty for the configured default.' : ''}`}
      inputMode="decimal"
      autoComplete="off"
      {...edit.input('overdraft')}
    />
  );
}

export function AccountLimitFields<Draft extends AccountDraft>({
  of: edit,
  placeholder,
}: Of<Draft> & { placeholder: string }) {
  const { form } = edit;
  return (
    <>
      <LimitsEditor
        hint="Besides the limits of each key and member. Calls that could exceed a limit get 402 until its period ends."
        rows={form.values.spending_limits}
        onRows={(rows) => form.setFieldValue('spending_limits' as never, rows as never)}
        error={form.errors.spending_limits}
      />
      <div className="pair">
        {CALL_LIMITS.map((name) => (
          <TextInput
            key={name}
            label={LABELS[name]}
            inputMode="numeric"
            autoComplete="off"
            placeholder={placeholder}
            {...edit.input(name)}
          />
        ))}
      </div>
    </>
  );
}
