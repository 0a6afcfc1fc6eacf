import { useEffect, useState } from 'react';
import type { OperatorAccountView } from '../../../api/account/account-view.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import { changeAccount, readOneAccount } from '../api/operator.ts';
import { useAction } from '../api/use-action.ts';
import { LIMITS_HINT } from '../format/limits.ts';
import { CallLimitFields } from '../keys/call-limit-fields.tsx';
import { ActionForm } from '../ui/action-form.tsx';
import { announce } from '../ui/announcements.tsx';
import { Conflict } from '../ui/conflict.tsx';
import { Section } from '../ui/elements.tsx';
import { TextField } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';
import {
  ACCOUNT_FIELDS,
  ACCOUNT_LABELS,
  changesOf,
  differencesOf,
  draftOf,
  isContested,
  touchedIn,
} from './account-draft.ts';

/**
 * Form of an existing account, which sends the touched fields only. Accounts have no version: before it saves, it reads
 * the account again, and asks where somebody else has changed one of these fields since the form was filled.
 */
export function AccountSettings({
  of: account,
  onChanged,
}: {
  of: OperatorAccountView;
  onChanged: (account: OperatorAccountView) => void;
}) {
  const [filledFrom, setFilledFrom] = useState(account);
  const [draft, setDraft] = useState(() => draftOf(account));
  /** The account as somebody else saved it meanwhile, while the dialog asks about it. */
  const [theirs, setTheirs] = useState<OperatorAccountView>();
  const touched = touchedIn(draft, filledFrom);
  useUnsaved(touched.length > 0);

  const fill = (from: OperatorAccountView) => {
    setFilledFrom(from);
    setDraft(draftOf(from));
  };
  useEffect(() => {
    if (touched.length === 0) fill(account);
  }, [account]);
  const adopt = (saved: OperatorAccountView) => {
    setTheirs(undefined);
    fill(saved);
    onChanged(saved);
  };
  /** Saves, unless a touched field has another value now than in `seen`, the account as the user last saw it. */
  const send = async (seen: OperatorAccountView): Promise<void> => {
    const changes = changesOf(draft, touched);
    const now = await readOneAccount(account.id);
    if (isContested(changes, seen, now)) return setTheirs(now);
    adopt(touched.length === 0 ? now : await changeAccount(account.id, changes));
    announce('Account saved.');
  };
  const action = useAction(() => send(filledFrom));
  const refused = fieldOf(action.error, ACCOUNT_FIELDS);
  const errorAt = (name: string) => (refused === name ? wordsOf(action.error) : undefined);
  const field = (name: 'email' | 'alert_threshold' | 'overdraft' | 'spending_limits') => ({
    name,
    label: ACCOUNT_LABELS[name],
    error: errorAt(name),
    value: draft[name],
    onValue: (text: string) => setDraft({ ...draft, [name]: text }),
  });
  return (
    <Section title="Settings">
      <ActionForm action={action} isAtField={refused !== undefined} verb="Save">
        <TextField {...field('email')} input={{ type: 'email' }} />
        <TextField {...field('alert_threshold')} input={{ inputMode: 'decimal' }} />
        <TextField
          {...field('overdraft')}
          hint="How far below 0 calls in flight can take the balance. 0: not at all."
          input={{ inputMode: 'decimal' }}
        />
        <TextField
          {...field('spending_limits')}
          hint={`For all keys together, besides the limits of each. ${LIMITS_HINT}`}
        />
        <fieldset className="group">
          <legend>Rate limits</legend>
          <p className="hint">For all keys together, besides the limits of each. Empty: no limit.</p>
          <CallLimitFields
            texts={draft}
            onTexts={(texts) => setDraft({ ...draft, ...texts })}
            errorAt={errorAt}
          />
        </fieldset>
      </ActionForm>
      {theirs && (
        <Conflict
          of="account"
          differences={differencesOf(changesOf(draft, touched), filledFrom, theirs)}
          onKeepTheirs={() => adopt(theirs)}
          saveMine={() => send(theirs)}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </Section>
  );
}
