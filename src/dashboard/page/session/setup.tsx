import { setUp } from '../api/people.ts';
import { secret } from '../entry-here.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { useFields } from '../ui/use-fields.ts';
import { EntryFrame } from './entry-frame.tsx';
import { NEW_PERSON, NewPersonFields } from './new-person-fields.tsx';
import { NoSecret } from './no-secret.tsx';
import { enter } from './session.ts';

/** The first run: makes the operator, who also owns the demo account. */
export default function Setup() {
  const { form, field } = useFields(NEW_PERSON, async ({ email, ...person }) => {
    await setUp(secret, { email: email.trim(), ...person });
    enter();
  });
  if (secret === '') {
    return (
      <NoSecret title="Set up Tollgate">Open the setup link that the gateway printed at its start.</NoSecret>
    );
  }
  return (
    <EntryFrame
      title="Set up Tollgate"
      words="You become the operator of this gateway and the owner of its demo account."
    >
      <ActionForm {...form} verb="Create">
        <NewPersonFields field={field} />
      </ActionForm>
    </EntryFrame>
  );
}
