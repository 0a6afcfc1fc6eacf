import { useState } from 'react';
import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import type { CreatedKeyView } from '../../../api/keys/key-view.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { createAccountKey } from '../api/operator.ts';
import { credits } from '../format/credits.ts';
import { CreatedKey } from '../keys/created-key.tsx';
import { ActionForm } from '../ui/action-form.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Section } from '../ui/elements.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { useConfirmed } from './use-confirmed.ts';

/** Form that creates a managing key for an owner who lost theirs. */
export function LostKey({ of: account, onCreated }: { of: OperatorAccountView; onCreated: () => void }) {
  const [name, setName] = useState('');
  const [created, setCreated] = useState<CreatedKeyView>();
  const making = useConfirmed(
    () => {
      if (name.trim() !== '') return name.trim();
      throw new ApiFailure(0, 'invalid_field', 'Enter a name that the owner recognizes.', 'name');
    },
    async (named: string) => {
      setCreated(await createAccountKey(account.id, named));
      setName('');
      onCreated();
    },
  );
  useUnsaved(name.trim() !== '');
  const refused = fieldOf(making.error, ['name']);
  return (
    <Section title="Create a key for the owner">
      <p className="section-words">If the owner lost all managing keys, create a new one for them.</p>
      <ActionForm
        action={making}
        isAtField={refused !== undefined}
        verb="Create key for the owner"
        className="narrow"
      >
        <TextField
          name="name"
          label="Name of the key"
          error={refused && wordsOf(making.error)}
          value={name}
          onValue={(typed) => {
            making.forget();
            setName(typed);
          }}
        />
      </ActionForm>
      {making.pending !== undefined && (
        <Confirm
          title={`Create the key “${making.pending}” for ${account.email}?`}
          verb="Create key"
          act={making.act}
          onClose={making.close}
        >
          <p>
            Anyone who has it can manage every key of the account and spend its{' '}
            {credits(account.credits_balance)} credits. Its value is shown once: give it to the owner only.
          </p>
        </Confirm>
      )}
      {created && <CreatedKey of={created} onDone={() => setCreated(undefined)} />}
    </Section>
  );
}
