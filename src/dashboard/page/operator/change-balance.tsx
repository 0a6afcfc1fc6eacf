import { useRef, useState } from 'preact/hooks';
import { fieldOf, fieldWords } from '../api/failure.ts';
import { grantCredits } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { credits } from '../format/credits.ts';
import { readAmount } from '../format/read-amount.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announcements.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { Section } from '../ui/section.tsx';

const FIELDS = ['amount', 'note'] as const;

/** A top-up or an adjustment. */
export function ChangeBalance({ id, onBalance }: { id: number; onBalance: (balance: number) => void }) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  // Of the change as it is typed: sending that again, after an answer that got lost, changes nothing twice.
  const repeatKey = useRef<string | undefined>(undefined);
  const action = useAction(async () => {
    repeatKey.current ??= newRepeatKey();
    const change = {
      amount: readAmount('The amount', amount, 'amount', Number.NEGATIVE_INFINITY),
      note: note.trim(),
    };
    const { credits_balance } = await grantCredits(id, change, repeatKey.current);
    repeatKey.current = undefined;
    setAmount('');
    setNote('');
    onBalance(credits_balance);
    announce(`The balance is ${credits(credits_balance)} credits now.`);
  });
  useUnsaved(amount.trim() !== '' || note.trim() !== '');
  const refused = fieldOf(action.error, FIELDS);
  const edit = (set: (value: string) => void) => (value: string) => {
    repeatKey.current = undefined;
    action.forget();
    set(value);
  };
  return (
    <Section title="Change the balance">
      <ActionForm
        action={action}
        isAtField={refused !== undefined}
        verb={amount.trim().startsWith('-') ? 'Adjust' : 'Top up'}
      >
        <TextField
          name="amount"
          label="Credits"
          hint="A negative amount is an adjustment."
          error={refused === 'amount' ? fieldWords(action.error) : undefined}
          value={amount}
          onValue={edit(setAmount)}
          // A phone's decimal keypad has no minus.
          input={{ inputMode: 'text' }}
        />
        <TextField
          name="note"
          label="Note"
          hint="Optional, for your records."
          error={refused === 'note' ? fieldWords(action.error) : undefined}
          value={note}
          onValue={edit(setNote)}
        />
      </ActionForm>
    </Section>
  );
}

/** Not randomUUID, which browsers have over HTTPS only. */
function newRepeatKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
