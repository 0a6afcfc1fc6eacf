import { useRef, useState } from 'preact/hooks';
import type { KeyView } from '../../../domain/key-view.ts';
import { fieldOf, wordsOf } from '../api/failure.ts';
import type { Action } from '../api/use-action.ts';
import { focusFirstFault } from '../ui/focus-fault.ts';
import { FailureNote } from '../ui/note.tsx';
import { Basics } from './basics.tsx';
import { HourSettings } from './hour-settings.tsx';
import { KEY_FIELDS, type KeyDraft, type KeyErrors } from './key-draft.ts';
import { ModelSettings } from './model-settings.tsx';
import { PlaceSettings } from './place-settings.tsx';
import { SpendSettings } from './spend-settings.tsx';
import { WebhookSettings } from './webhook-settings.tsx';

/** What every section of the form gets. */
export interface KeyFormPart {
  readonly draft: KeyDraft;
  readonly errors: KeyErrors;
  readonly change: (part: Partial<KeyDraft>) => void;
  /** Undefined for a key that is being created. */
  readonly known: KeyView | undefined;
}

/** Every setting of a key. `faults` are the form's own; what the gateway refuses stands at its field likewise. */
export function KeyForm(props: {
  known: KeyView | undefined;
  draft: KeyDraft;
  onDraft: (draft: KeyDraft) => void;
  faults: KeyErrors;
  save: Action<void>;
  verb: string;
  /** Nothing is changed yet, so there is nothing to save. */
  isUnchanged?: boolean;
  readOnly?: boolean;
}) {
  const { draft, faults, save, known } = props;
  /** Whether the faults are shown yet. */
  const [isTried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const refused = fieldOf(save.error, KEY_FIELDS);
  const errors: KeyErrors = {
    ...(refused ? { [refused]: wordsOf(save.error) } : {}),
    ...(isTried ? faults : {}),
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
    const isFine = Object.keys(faults).length === 0;
    const isSaved = isFine && (await save.run());
    setTried(!isSaved);
    if (!isSaved) focusFirstFault(form.current);
  };
  return (
    <form
      ref={form}
      class="key-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <fieldset class="plain" disabled={props.readOnly ?? false}>
        <Basics {...part} />
        <SpendSettings {...part} />
        <ModelSettings {...part} />
        <PlaceSettings {...part} />
        <HourSettings {...part} />
        <WebhookSettings {...part} />
      </fieldset>
      {!refused && <FailureNote error={save.error} />}
      {!props.readOnly && (
        <div class="save-bar">
          <button type="submit" class="primary" disabled={save.isBusy || props.isUnchanged}>
            {save.isBusy ? 'Saving…' : props.verb}
          </button>
          <span class="hint">
            {props.isUnchanged ? 'Nothing is changed.' : 'In force at every gateway once it is saved.'}
          </span>
        </div>
      )}
    </form>
  );
}
