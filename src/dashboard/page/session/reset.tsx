import { useState } from 'react';
import { HERE } from '../base.ts';
import { ask } from '../data/client.ts';
import { Note } from '../ui/note.tsx';
import { EntryFrame, FirstFocus, NewPassword, NoSecret } from './entry.tsx';
import { secret } from './secret.ts';
import { newPassword, TextsForm, useTexts } from './texts-form.tsx';

const TITLE = 'New password';
const TEXTS = { password: newPassword };

/** A new password by the link that an operator made. */
export default function ResetPage() {
  const [isDone, setDone] = useState(false);
  const { form, field } = useTexts(TEXTS, async ({ password }) => {
    await ask('/api/session/reset/', { method: 'POST', body: { secret, password } });
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
          <a href={new URL('sign-in', HERE).href}>Sign in</a>
        </p>
      </EntryFrame>
    );
  }
  return (
    <EntryFrame title={TITLE} words="This ends all your sessions.">
      <FirstFocus>
        <TextsForm {...form} verb="Set password">
          <NewPassword {...field('password')} label="New password" />
        </TextsForm>
      </FirstFocus>
    </EntryFrame>
  );
}
