import type { ReactNode } from 'react';
import { fromLocalInput, moment, zoneName } from '../format/time.ts';
import { makesOwnKeys } from '../session/session.ts';
import { Field, TextField } from '../ui/field.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { ManageTick } from './manage-tick.tsx';
import { SettingGroup } from './setting-group.tsx';

export function Basics(part: KeyFormPart) {
  const { draft, errors, change } = part;
  // A date that is only partly typed has no value and fires no input event.
  const seeWhetherHalf = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    const isExpiryHalf = currentTarget.validity.badInput;
    if (isExpiryHalf !== draft.isExpiryHalf) change({ isExpiryHalf });
  };
  return (
    <SettingGroup
      title="Basics"
      words={
        makesOwnKeys()
          ? 'Name, note and expiry.'
          : 'Name, note and expiry, and whether the key can manage the account.'
      }
    >
      <TextField
        name="name"
        label="Name"
        error={errors.name}
        value={draft.name}
        onValue={(name) => change({ name })}
        input={{ required: true, maxLength: 200 }}
      />
      <Field
        name="description"
        label="Note"
        hint="Optional. Up to 1,000 characters."
        error={errors.description}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            rows={2}
            value={draft.description}
            onInput={(event) => change({ description: event.currentTarget.value })}
          />
        )}
      </Field>
      <TextField
        name="expires_at"
        label="Expires"
        hint={expiryHint(draft.expires)}
        error={errors.expires_at}
        value={draft.expires}
        onValue={(expires) => change({ expires, isExpiryHalf: false })}
        input={{ type: 'datetime-local', onKeyUp: seeWhetherHalf, onBlur: seeWhetherHalf }}
      />
      {!makesOwnKeys() && <ManageTick {...part} />}
    </SettingGroup>
  );
}

function expiryHint(text: string): ReactNode {
  const at = text === '' ? undefined : fromLocalInput(text);
  if (at === undefined) return `In your time zone (${zoneName()}). Leave empty for no expiry.`;
  const isPassed = Date.parse(at) <= Date.now();
  return (
    <>
      {moment(at, 'utc')} UTC.
      {isPassed && <strong className="typing-wrong"> This time has passed, so the key is expired.</strong>}
    </>
  );
}
