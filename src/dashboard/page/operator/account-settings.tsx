import { useState } from 'preact/hooks';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { changeAccount, type OperatorAccount } from '../api/operator.ts';
import { ApiFailure } from '../api/request.ts';
import { useAction } from '../api/use-action.ts';
import { readAmount } from '../format/read-amount.ts';
import { announce } from '../ui/announcements.tsx';
import { TextField } from '../ui/field.tsx';
import { FailureNote } from '../ui/note.tsx';
import { Section } from '../ui/section.tsx';

export function AccountSettings({
  of: account,
  onChanged,
}: {
  of: OperatorAccount;
  onChanged: (account: OperatorAccount) => void;
}) {
  const [email, setEmail] = useState(account.email);
  const [threshold, setThreshold] = useState(String(account.alert_threshold));
  const action = useAction(async () => {
    onChanged(
      await changeAccount(account.id, {
        email: email.trim(),
        alert_threshold: readAmount('The threshold', threshold, 'alert_threshold'),
      }),
    );
    announce('The account is saved.');
  });
  const isTaken = action.error instanceof ApiFailure && action.error.code === 'email_taken';
  const refused = isTaken ? 'email' : fieldOf(action.error, ['email', 'alert_threshold']);
  const errorAt = (name: string) => (refused === name ? wordsOf(action.error) : undefined);
  return (
    <Section title="Settings">
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void action.run();
        }}
      >
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
        {!refused && <FailureNote error={action.error} />}
        <button type="submit" disabled={action.isBusy}>
          Save
        </button>
      </form>
    </Section>
  );
}
