import { useEffect, useRef, useState } from 'react';
import type { AccountView } from '../../../api/account/account-view.ts';
import { setThreshold } from '../api/account.ts';
import { wordsOf } from '../api/failure.ts';
import { useAction } from '../api/use-action.ts';
import { readAmount } from '../format/read-amount.ts';
import { may } from '../session/session.ts';
import { Amount } from '../ui/amount.tsx';
import { announce } from '../ui/announcements.tsx';
import { Section } from '../ui/elements.tsx';
import { focusFirstFault } from '../ui/field.tsx';
import { useUnsaved } from '../ui/leave-guard.ts';

/** The alert threshold, which can be edited in place. */
export function Threshold({
  account,
  onChanged,
}: {
  account: AccountView;
  onChanged: (account: AccountView) => void;
}) {
  const [text, setText] = useState<string>();
  useUnsaved(text !== undefined && text !== String(account.alert_threshold));
  const mayEdit = may('change the threshold');
  const opener = useRef<HTMLButtonElement>(null);
  const close = () => {
    setText(undefined);
    requestAnimationFrame(() => opener.current?.focus());
  };
  return (
    <Section title="Alert threshold">
      {text === undefined ? (
        <>
          <p className="threshold">
            <Amount of={account.alert_threshold} />
          </p>
          {mayEdit ? (
            <button
              type="button"
              ref={opener}
              aria-label="Change alert threshold"
              onClick={() => setText(String(account.alert_threshold))}
            >
              Change
            </button>
          ) : (
            <p className="hint">alert when the balance falls below</p>
          )}
        </>
      ) : (
        <ThresholdForm text={text} onText={setText} onClose={close} onChanged={onChanged} />
      )}
    </Section>
  );
}

function ThresholdForm(props: {
  text: string;
  onText: (text: string) => void;
  onClose: () => void;
  onChanged: (account: AccountView) => void;
}) {
  const { text, onText, onClose, onChanged } = props;
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.select(), []);
  const action = useAction(async () => {
    onChanged(await setThreshold(readAmount('The threshold', text, 'alert_threshold')));
    announce('Alert threshold changed.');
    onClose();
  });
  const save = async (form: HTMLFormElement) => {
    if (!(await action.run())) focusFirstFault(form);
  };
  const error = action.error === undefined ? '' : wordsOf(action.error);
  return (
    <form
      className="inline-form"
      onSubmit={(event) => {
        event.preventDefault();
        void save(event.currentTarget);
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <input
        ref={input}
        name="alert_threshold"
        inputMode="decimal"
        autoComplete="off"
        aria-label="Alert threshold in credits"
        aria-describedby="threshold-error"
        aria-invalid={error ? 'true' : undefined}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <button type="submit" className="primary" aria-disabled={action.isBusy}>
        Save
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
      <p className="field-error" id="threshold-error" aria-live="polite">
        {error}
      </p>
    </form>
  );
}
