import { useState } from 'preact/hooks';
import type { OperatorAccountView } from '../../../api/views/account-view.ts';
import { fieldOf, fieldWords } from '../api/failure.ts';
import { changeAccount } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { readAmount } from '../format/read-amount.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announcements.tsx';
import { Section } from '../ui/elements.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';

export function AccountSettings({
  of: account,
  onChanged,
}: {
  of: OperatorAccountView;
  onChanged: (account: OperatorAccountView) => void;
}) {
  const [email, setEmail] = useState(account.email);
  const [threshold, setThreshold] = useState(String(account.alert_threshold));
  const [overdraft, setOverdraft] = useState(String(account.overdraft));
  const isOverdraftNew = overdraft !== String(account.overdraft);
  const action = useAction(async () => {
    const changed = await changeAccount(account.id, {
      email: email.trim(),
      alert_threshold: readAmount('The threshold', threshold, 'alert_threshold'),
      ...(isOverdraftNew && { overdraft: readAmount('The overdraft', overdraft, 'overdraft') }),
    });
    onChanged(changed);
    setEmail(changed.email);
    setThreshold(String(changed.alert_threshold));
    setOverdraft(String(changed.overdraft));
    announce('The account is saved.');
  });
  useUnsaved(email !== account.email || threshold !== String(account.alert_threshold) || isOverdraftNew);
  const refused = fieldOf(action.error, ['email', 'alert_threshold', 'overdraft']);
  const errorAt = (name: string) => (refused === name ? fieldWords(action.error) : undefined);
  return (
    <Section title="Settings">
      <ActionForm action={action} isAtField={refused !== undefined} verb="Save">
        <TextField
          name="email"
          label="E-mail address"
          error={errorAt('email')}
          value={email}
          onValue={setEmail}
          input={{ type: 'email' }}
        />
        <TextField
          name="alert_threshold"
          label="Alert threshold"
          error={errorAt('alert_threshold')}
          value={threshold}
          onValue={setThreshold}
          input={{ inputMode: 'decimal' }}
        />
        <TextField
          name="overdraft"
          label="Overdraft"
          hint="How far calls in flight may together take the balance below 0; 0: not at all."
          error={errorAt('overdraft')}
          value={overdraft}
          onValue={setOverdraft}
          input={{ inputMode: 'decimal' }}
        />
      </ActionForm>
    </Section>
  );
}
