import { useState } from 'react';
import type { CreatedKeyView } from '../../../api/keys/key-view.ts';
import { DEFAULT_ALERT_THRESHOLD } from '../../../domain/key.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { createAccount } from '../api/operator.ts';
import { CALL_LIMITS } from '../format/call-limits.ts';
import { credits } from '../format/credits.ts';
import { LIMITS_HINT, limitsOf } from '../format/limits.ts';
import { readAmount } from '../format/read-amount.ts';
import { CallLimitFields } from '../keys/call-limit-fields.tsx';
import { limitsOfTexts, NO_LIMIT_TEXTS } from '../keys/call-limit-texts.ts';
import { CreatedKey } from '../keys/created-key.tsx';
import { goTo } from '../route.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { PageFrame } from '../ui/page.tsx';
import { ACCOUNT_LABELS } from './account-draft.ts';
import { useConfirmed } from './use-confirmed.ts';

const FIELDS = [
  'email',
  'credits',
  'alert_threshold',
  'overdraft',
  'spending_limits',
  ...CALL_LIMITS,
] as const;
type Fields = Record<(typeof FIELDS)[number], string>;

const EMPTY: Fields = {
  email: '',
  credits: '0',
  alert_threshold: String(DEFAULT_ALERT_THRESHOLD),
  overdraft: '',
  spending_limits: '',
  ...NO_LIMIT_TEXTS,
};

export function NewAccount() {
  const [fields, setFields] = useState(EMPTY);
  const [created, setCreated] = useState<{ accountId: number; key: CreatedKeyView }>();
  useUnsaved(created === undefined && FIELDS.some((name) => fields[name] !== EMPTY[name]));
  const action = useConfirmed(
    () => ({
      email: fields.email.trim(),
      credits: readAmount('Credits', fields.credits, 'credits'),
      alert_threshold: readAmount('The threshold', fields.alert_threshold, 'alert_threshold'),
      ...(fields.overdraft.trim() !== '' && {
        overdraft: readAmount('The overdraft', fields.overdraft, 'overdraft'),
      }),
      spending_limits: limitsOf(fields.spending_limits),
      ...limitsOfTexts(
        fields,
        CALL_LIMITS.filter((name) => fields[name].trim() !== ''),
        'Leave empty for the configured default.',
      ),
    }),
    async (asked) => {
      const { account, key } = await createAccount(asked);
      setCreated({ accountId: account.id, key });
    },
  );
  const refused = fieldOf(action.error, FIELDS);
  const edit = (changes: Partial<Fields>) => {
    action.forget();
    setFields({ ...fields, ...changes });
  };
  const errorAt = (name: keyof Fields) => (refused === name ? wordsOf(action.error) : undefined);
  const field = (name: keyof Fields) => ({
    name,
    value: fields[name],
    onValue: (value: string) => edit({ [name]: value }),
    error: errorAt(name),
  });
  return (
    <PageFrame title="Create account" back={{ href: '#/accounts', name: 'Accounts' }}>
      <ActionForm
        action={action}
        isAtField={refused !== undefined}
        verb="Create account"
        className="card narrow"
      >
        <TextField {...field('email')} label="Email address of the owner" input={{ type: 'email' }} />
        <TextField {...field('credits')} label="Initial credits" input={{ inputMode: 'decimal' }} />
        <TextField
          {...field('alert_threshold')}
          label="Alert threshold"
          hint={
            Number(fields.credits) < Number(fields.alert_threshold) && Number(fields.credits) > 0
              ? 'The balance begins below this value: no alert is sent until a top-up exceeds it.'
              : 'The owner is alerted when the balance falls below this value, and can change it.'
          }
          input={{ inputMode: 'decimal' }}
        />
        <TextField
          {...field('overdraft')}
          label="Overdraft"
          hint="How far below 0 calls in flight can take the balance. Leave empty for the configured default."
          input={{ inputMode: 'decimal' }}
        />
        <TextField
          {...field('spending_limits')}
          label={ACCOUNT_LABELS.spending_limits}
          hint={`For all keys together. ${LIMITS_HINT}`}
        />
        <fieldset className="group">
          <legend>Rate limits</legend>
          <p className="hint">
            For all keys together. Leave empty for the configured defaults. You can remove a limit in the
            account's settings.
          </p>
          <CallLimitFields texts={fields} onTexts={edit} errorAt={errorAt} />
        </fieldset>
      </ActionForm>
      {action.pending && (
        <Confirm
          title={`Create an account for ${action.pending.email || 'nobody'}?`}
          verb="Create"
          act={action.act}
          onClose={action.close}
        >
          <p>
            It begins with <strong>{credits(action.pending.credits)}</strong> credits and a key that may spend
            them, which is shown once.
          </p>
        </Confirm>
      )}
      {created && <CreatedKey of={created.key} onDone={() => goTo(`/accounts/${created.accountId}`)} />}
    </PageFrame>
  );
}
