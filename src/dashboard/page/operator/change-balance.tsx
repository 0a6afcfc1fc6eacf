import { useRef, useState } from 'react';
import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { creditsString, micro, microFromCredits } from '../../../domain/credits.ts';
import { ApiFailure } from '../api/api-failure.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { grantCredits } from '../api/operator.ts';
import { credits } from '../format/credits.ts';
import { readAmount } from '../format/read-amount.ts';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announcements.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Section } from '../ui/elements.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import { useConfirmed } from './use-confirmed.ts';

const FIELDS = ['amount', 'note'] as const;

/** Form for a top-up or an adjustment, which is made after a question. */
export function ChangeBalance({
  of: account,
  onBalance,
}: {
  of: OperatorAccountView;
  onBalance: (balance: number) => void;
}) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  // Idempotency key of the change, kept until another change is typed, so that trying again after a lost answer is
  // harmless.
  const repeatKey = useRef<string | undefined>(undefined);
  const change = useConfirmed(
    () => {
      const typed = readAmount('The amount', amount, 'amount', Number.NEGATIVE_INFINITY);
      if (typed !== 0) return { amount: typed, note: note.trim() };
      throw new ApiFailure(0, 'invalid_field', 'The amount must not be 0.', 'amount');
    },
    async (asked) => {
      repeatKey.current ??= newRepeatKey();
      const { credits_balance } = await grantCredits(account.id, asked, repeatKey.current);
      repeatKey.current = undefined;
      setAmount('');
      setNote('');
      onBalance(credits_balance);
      announce(`The balance is now ${credits(credits_balance)} credits.`);
    },
  );
  useUnsaved(amount.trim() !== '' || note.trim() !== '');
  const refused = fieldOf(change.error, FIELDS);
  const edit = (set: (value: string) => void) => (value: string) => {
    repeatKey.current = undefined;
    change.forget();
    set(value);
  };
  return (
    <Section title="Change balance">
      <ActionForm
        action={change}
        isAtField={refused !== undefined}
        verb={amount.trim().startsWith('-') ? 'Adjust' : 'Top up'}
      >
        <TextField
          name="amount"
          label="Credits"
          hint="Enter a negative amount to take credits away."
          error={refused === 'amount' ? wordsOf(change.error) : undefined}
          value={amount}
          onValue={edit(setAmount)}
          // A phone's decimal keypad has no minus.
          input={{ inputMode: 'text' }}
        />
        <TextField
          name="note"
          label="Note"
          hint="Optional. Also visible to the owner, in the ledger."
          error={refused === 'note' ? wordsOf(change.error) : undefined}
          value={note}
          onValue={edit(setNote)}
        />
      </ActionForm>
      {change.pending && (
        <Question of={account} {...change.pending} act={change.act} onClose={change.close} />
      )}
    </Section>
  );
}

function Question(props: {
  of: OperatorAccountView;
  amount: number;
  note: string;
  act: () => Promise<void>;
  onClose: () => void;
}) {
  const { of: account, amount, note } = props;
  const size = credits(Math.abs(amount));
  const isDebit = amount < 0;
  const after = sum(account.credits_balance, amount);
  return (
    <Confirm
      title={
        isDebit ? `Take ${size} credits from ${account.email}?` : `Add ${size} credits to ${account.email}?`
      }
      verb={isDebit ? 'Take the credits' : 'Add the credits'}
      danger={isDebit}
      act={props.act}
      onClose={props.onClose}
    >
      {after !== undefined && (
        <p>
          The balance goes from {credits(account.credits_balance)} to <strong>{credits(after)}</strong>{' '}
          credits, less the calls charged in the meantime.
        </p>
      )}
      {note && <p>Note: {note}</p>}
    </Confirm>
  );
}

/** Sum of two amounts of credits, in micro-credits so that 0.1 and 0.2 are 0.3; undefined if it would be inexact. */
function sum(balance: number, amount: number): string | undefined {
  const total = (microFromCredits(balance) ?? Number.NaN) + (microFromCredits(amount) ?? Number.NaN);
  return Number.isSafeInteger(total) ? creditsString(micro(total)) : undefined;
}

/** A random id, without `crypto.randomUUID`, which browsers have over HTTPS only. */
function newRepeatKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
