import { useState } from 'react';
import { resetPassword } from '../api/people.ts';
import { secret } from '../entry-here.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { TextField } from '../ui/field.tsx';
import { Note } from '../ui/note.tsx';
import { useFields } from '../ui/use-fields.ts';
import { EntryFrame } from './entry-frame.tsx';
import { NEW_PASSWORD_INPUT, PASSWORD_HINT } from './new-person-fields.tsx';
import { NoSecret } from './no-secret.tsx';

const TITLE = 'New password';

/** A new password by the link that an operator made. */
export default function Reset() {
  const [isDone, setDone] = useState(false);
  const { form, field } = useFields({ password: '' }, async ({ password }) => {
    await resetPassword(secret, password);
    setDone(true);
  });
  if (secret === '') return <NoSecret title={TITLE}>Open the link that you were sent again.</NoSecret>;
  if (isDone) {
    return (
      <EntryFrame title={TITLE}>
        <Note kind="good">
          <p>Your password is changed, and all your sessions have ended.</p>
        </Note>
        <p>
          <a href="sign-in">Sign in</a>
        </p>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title={TITLE} words="This ends all your sessions.">
      <ActionForm {...form} verb="Set password">
        <TextField
          {...field('password')}
          label="New password"
          hint={PASSWORD_HINT}
          input={NEW_PASSWORD_INPUT}
        />
      </ActionForm>
    </EntryFrame>
  );
}
