import { Button, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { CreatedAccountView } from '../../../api/account/account-view.ts';
import { ask, made } from '../data/client.ts';
import { Dialog } from '../ui/confirm.tsx';
import { CopyValue } from '../ui/copy.tsx';
import { EditForm, useEdit } from '../ui/edit.tsx';
import { Card } from '../ui/elements.tsx';
import { Note } from '../ui/note.tsx';
import { Page } from '../ui/page.tsx';
import { Unsaved } from '../ui/unsaved.tsx';
import {
  NEW_ACCOUNT,
  NEW_LABELS,
  type NewAccountBody,
  type NewAccountDraft,
  readNewAccount,
} from './account-draft.ts';
import { AccountLimitFields, OverdraftField, ThresholdField } from './account-settings.tsx';
import '../style/keys.css';

/** Page that makes an account with its first key, and invites its owner. */
export default function NewAccountPage() {
  const [created, setCreated] = useState<CreatedAccountView>();
  const edit = useEdit<NewAccountDraft, NewAccountDraft, NewAccountBody>({
    what: 'account',
    labels: NEW_LABELS,
    stored: NEW_ACCOUNT,
    draftOf: (draft) => draft,
    read: readNewAccount,
    send: async () => {
      const { body } = readNewAccount(edit.form.getValues());
      setCreated(
        await made('account', ask<CreatedAccountView>('/api/admin/accounts/', { method: 'POST', body })),
      );
      return undefined;
    },
  });
  const { credits, alert_threshold } = edit.form.values;
  const beginsLow = Number(credits) > 0 && Number(credits) < Number(alert_threshold);
  return (
    <Page title="Create account" back={{ to: 'accounts', name: 'Accounts' }}>
      <EditForm of={edit} verb="Create account" hint="Its first key is shown once, after this.">
        <Card title="A new account">
          <div className="fields">
            <TextInput
              type="email"
              label={NEW_LABELS.email}
              description="Of the customer; unique among accounts. Alerts include it."
              autoComplete="off"
              {...edit.input('email')}
            />
            <TextInput
              label={NEW_LABELS.name}
              description="Optional. Default: the email address."
              autoComplete="off"
              {...edit.input('name')}
            />
            <TextInput
              label={NEW_LABELS.credits}
              inputMode="decimal"
              autoComplete="off"
              {...edit.input('credits')}
            />
            <TextInput
              type="email"
              label={NEW_LABELS.owner_email}
              description="Optional. Makes a link by which the person with this email address joins as owner."
              placeholder="ada@example.com"
              autoComplete="off"
              {...edit.input('owner_email')}
            />
            {beginsLow && (
              <Note kind="info">
                <p>
                  The balance begins below the alert threshold of {alert_threshold}: the account is shown as
                  “Low credits”, and no alert is sent until a top-up exceeds it.
                </p>
              </Note>
            )}
            <details className="more-settings">
              <summary>More settings</summary>
              <div className="fields">
                <ThresholdField of={edit} />
                <OverdraftField of={edit} isDefault />
                <AccountLimitFields of={edit} placeholder="Configured default" />
              </div>
            </details>
          </div>
        </Card>
      </EditForm>
      {created && <Created of={created} />}
    </Page>
  );
}

/** Dialog with what is shown once. Only its button closes it, because closing by mistake loses the values. */
function Created({ of: { account, key, invitation_link: link, mailed } }: { of: CreatedAccountView }) {
  const navigate = useNavigate();
  return (
    <Dialog title={`The account ${account.name}`} size="lg">
      <div className="fields">
        <Note kind="warning">
          <p>These values are shown only now. Give them to the customer in a way that you trust.</p>
        </Note>
        {link !== undefined && (
          <div>
            <h3>Invitation of the owner</h3>
            <p className="hint">
              Works once, for 7 days.{' '}
              {mailed ? 'It was also sent by email.' : 'It was not sent by email: send it yourself.'}
            </p>
            <CopyValue label="Invitation link" value={link} isMain />
          </div>
        )}
        <div>
          <h3>First key</h3>
          <p className="hint">It manages the account and spends its credits.</p>
          <CopyValue label="Key value" value={key.key} isMain={link === undefined} />
        </div>
      </div>
      <div className="dialog-actions">
        <Button
          variant="default"
          onClick={() =>
            void navigate({ to: `/operator/accounts/${account.id}/home` as never, ignoreBlocker: true })
          }
        >
          I have saved {link === undefined ? 'it' : 'them'}
        </Button>
      </div>
      <Unsaved
        when
        lost="The key and the link are shown only once. If you do not save them now, you have to create others."
      />
    </Dialog>
  );
}
