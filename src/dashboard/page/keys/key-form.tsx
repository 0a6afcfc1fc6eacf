import type { ReactNode, RefObject } from 'react';
import { useRef, useState } from 'react';
import type { KeyView } from '../../../api/keys/key-view.ts';
import { rowAt } from '../../../domain/key-settings.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import type { Action } from '../api/use-action.ts';
import { makesOwnKeys } from '../session/session.ts';
import { focusFirstFault } from '../ui/field.tsx';
import { FailureNote } from '../ui/note.tsx';
import { Basics } from './basics.tsx';
import { CallLimitSettings } from './call-limit-settings.tsx';
import { HourSettings } from './hour-settings.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { FORM_FIELDS, type KeyDraft, type KeyErrors, type KeyField } from './key-draft.ts';
import { ModelSettings } from './model-settings.tsx';
import { PlaceSettings } from './place-settings.tsx';
import { SectionList } from './section-list.tsx';
import { SpendSettings } from './spend-settings.tsx';
import { WebhookSettings } from './webhook-settings.tsx';

/**
 * Form with every setting of a key. `faults` are those that the form itself finds; each is shown at its field once the
 * user has left the field or tried to save. Refusals of the gateway are shown at their field, or, where they name none,
 * in the bar with the button.
 */
export function KeyForm(props: {
  known: KeyView | undefined;
  draft: KeyDraft;
  onDraft: (draft: KeyDraft) => void;
  faults: KeyErrors;
  save: Action<void>;
  verb: string;
  /** True if nothing is changed, so that there is nothing to save. */
  isUnchanged?: boolean;
  /** Content to show where saving failed; default: the message of the failure. */
  failure?: ReactNode;
}) {
  const { draft, faults, save, known, isUnchanged = false } = props;
  /** Fields whose faults are shown: those that were left, or all. */
  const [checked, setChecked] = useState<ReadonlySet<string> | 'all'>(NONE);
  const form = useRef<HTMLFormElement>(null);
  const refused = fieldOf(save.error, FORM_FIELDS);
  const shown = Object.entries(faults).filter(([field]) => checked === 'all' || checked.has(field));
  const errors: KeyErrors = {
    ...(refused ? { [refused]: wordsOf(save.error) } : {}),
    ...Object.fromEntries(shown),
  };
  const part: KeyFormPart = {
    draft,
    errors,
    known,
    change: (changed) => {
      save.forget();
      props.onDraft({ ...draft, ...changed });
    },
  };
  const submit = async () => {
    if (isUnchanged) return;
    const isFine = Object.keys(faults).length === 0;
    const isSaved = isFine && (await save.run());
    setChecked(isSaved ? NONE : 'all');
    if (!isSaved) focusFirstFault(form.current);
  };
  const isFaulty = shown.length > 0 || save.error !== undefined;
  return (
    <form
      ref={form}
      className="key-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onBlur={({ target, relatedTarget }) => {
        // Sending checks every field anyway; an error line that appears now would move the button away under the
        // pointer.
        const isSending = relatedTarget instanceof HTMLButtonElement && relatedTarget.type === 'submit';
        if (checked !== 'all' && !isSending) setChecked(new Set([...checked, nameOf(target)]));
      }}
    >
      <div className="with-sections">
        <SectionList />
        <div className="setting-groups">
          <Basics {...part} />
          <SpendSettings {...part} />
          <CallLimitSettings {...part} />
          <ModelSettings {...part} />
          <PlaceSettings {...part} />
          <HourSettings {...part} />
          {!makesOwnKeys() && <WebhookSettings {...part} />}
        </div>
      </div>
      <div className="save-bar">
        {!refused && (props.failure || <FailureNote error={save.error} />)}
        <button type="submit" className="primary" aria-disabled={save.isBusy || isUnchanged}>
          {save.isBusy ? 'Saving…' : props.verb}
        </button>
        <span className="hint">{hintOf(known === undefined, isUnchanged, isFaulty)}</span>
        {isFaulty && <Faults of={FORM_FIELDS.filter((field) => errors[field])} form={form} />}
      </div>
    </form>
  );
}

/** The fields that are wrong, each a button that leads to it. */
function Faults({ of, form }: { of: readonly KeyField[]; form: RefObject<HTMLFormElement | null> }) {
  if (of.length === 0) return null;
  return (
    <span className="faults">
      Correct:{' '}
      {of.map((field) => (
        <button
          key={field}
          type="button"
          className="link"
          onClick={() => focusFirstFault(form.current, field)}
        >
          {rowAt(field).label}
        </button>
      ))}
    </span>
  );
}

const NONE: ReadonlySet<string> = new Set();

function nameOf(target: EventTarget | null): string {
  return target instanceof Element ? (target.getAttribute('name') ?? '') : '';
}

function hintOf(isNew: boolean, isUnchanged: boolean, isFaulty: boolean): string {
  if (isUnchanged) return 'No changes.';
  if (isFaulty) return 'Not saved.';
  return isNew
    ? 'Its value is shown once, after this.'
    : 'Changes apply at every gateway as soon as you save.';
}
