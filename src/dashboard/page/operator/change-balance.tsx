import { Button, TextInput } from '@mantine/core';
import { useRef, useState } from 'react';
import type { CreditsView, OperatorAccountView } from '../../../api/account/account-view.ts';
import { creditsString, micro, microFromCredits } from '../../../domain/credits.ts';
import { ApiFailure } from '../data/api-failure.ts';
import { ask, certain } from '../data/client.ts';
import { credits } from '../format/credits.ts';
import { readAmount } from '../format/read-amount.ts';
import { announce } from '../ui/announce.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Card } from '../ui/elements.tsx';
import { Unsaved } from '../ui/unsaved.tsx';

const LOST = 'The gateway did not confirm the change. Try again: it is made once, however often you send it.';

interface Change {
  readonly amount: number;
  readonly note: string;
}

/** Form for a top-up or an adjustment, which is made after a question, and exactly once. */
export function ChangeBalance({ of: account }: { of: OperatorAccountView }) {
  const [amount, setAmount] = useState('');
  const [note, setNote] = useState('');
  const [fault, setFault] = useState<string>();
  const [asked, setAsked] = useState<Change>();
  const field = useRef<HTMLInputElement>(null);
  // Idempotency key of the change, kept until another change is typed, so that trying again after a lost answer is
  // harmless.
  const repeatKey = useRef<string>(undefined);
  const edit = (set: (value: string) => void) => (value: string) => {
    repeatKey.current = undefined;
    setFault(undefined);
    set(value);
  };
  const ready = () => {
    try {
      setAsked({ amount: readChange(amount), note: note.trim() });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFault(error.message);
      field.current?.focus();
    }
  };
  const make = async (change: Change) => {
    repeatKey.current ??= newRepeatKey();
    const answer = ask<CreditsView>(`/api/admin/accounts/${account.id}/credits/`, {
      method: 'POST',
      body: change,
      headers: { 'idempotency-key': repeatKey.current },
    });
    const { credits_balance } = await certain(answer, LOST);
    repeatKey.current = undefined;
    setAmount('');
    setNote('');
    announce(`The balance is now ${credits(credits_balance)} credits.`);
  };
  return (
    <Card title="Change balance">
      <form
        className="fields"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          ready();
        }}
      >
        <TextInput
          ref={field}
          label="Credits"
          description="Enter a negative amount to take credits away."
          autoComplete="off"
          // A phone's decimal keypad has no minus.
          inputMode="text"
          error={fault}
          value={amount}
          onChange={(event) => edit(setAmount)(event.currentTarget.value)}
        />
        <TextInput
          label="Note"
          description="Optional. Also visible to the owner, in the ledger."
          maxLength={1_000}
          value={note}
          onChange={(event) => edit(setNote)(event.currentTarget.value)}
        />
        <div>
          <Button type="submit">{/^\s*[-−]/.test(amount) ? 'Deduct credits' : 'Add credits'}</Button>
        </div>
      </form>
      {asked && <Question of={account} change={asked} make={make} onClose={() => setAsked(undefined)} />}
      <Unsaved when={amount.trim() !== '' || note.trim() !== ''} />
    </Card>
  );
}

function Question({
  of: account,
  change: { amount, note },
  make,
  onClose,
}: {
  of: OperatorAccountView;
  change: Change;
  make: (change: Change) => Promise<void>;
  onClose: () => void;
}) {
  const size = credits(Math.abs(amount));
  const isDebit = amount < 0;
  const after = sum(account.credits_balance, amount);
  return (
    <Confirm
      title={
        isDebit ? `Take ${size} credits from ${account.name}?` : `Add ${size} credits to ${account.name}?`
      }
      verb={isDebit ? 'Take the credits' : 'Add the credits'}
      danger={isDebit}
      act={() => make({ amount, note })}
      onClose={onClose}
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

function readChange(text: string): number {
  const amount = readAmount('The amount', text, 'amount', Number.NEGATIVE_INFINITY);
  if (amount !== 0) return amount;
  throw new ApiFailure(0, 'invalid_field', 'The amount must not be 0.', 'amount');
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
