import { bodyCarriesRestriction } from '../../../domain/key-settings.ts';
import type { KeyFormPart } from './key-draft.ts';
import { isOwnKey } from './key-label.tsx';
import { changesOf, readDraft } from './read-draft.ts';

/** Tick of `can_manage`. Until the user sets it, it shows what the gateway will decide (specification section 2). */
export function ManageTick({ draft, errors, change, known }: KeyFormPart) {
  const restricts = bodyCarriesRestriction(
    known ? changesOf(draft, known, readDraft(draft)) : readDraft(draft).body,
  );
  const takesAway = restricts && !(known && isOwnKey(known));
  const unsaid = takesAway ? false : (known?.can_manage ?? true);
  const isTicked = draft.canManage ?? unsaid;
  const loses = draft.canManage === undefined && takesAway && (known?.can_manage ?? true);
  return (
    <div className="field">
      <label className="tick">
        <input
          type="checkbox"
          name="can_manage"
          checked={isTicked}
          aria-describedby="field-can_manage-hint field-can_manage-error"
          aria-invalid={errors.can_manage ? 'true' : undefined}
          onChange={(event) => change({ canManage: event.currentTarget.checked })}
        />
        <span>Can manage keys, the alert threshold and webhooks</span>
      </label>
      <p className="hint" id="field-can_manage-hint" aria-live="polite">
        {hintOf(known === undefined, loses)}
      </p>
      <p className="field-error" id="field-can_manage-error">
        {errors.can_manage}
      </p>
    </div>
  );
}

function hintOf(isNew: boolean, loses: boolean): string {
  if (loses) {
    return "A restricted key can't manage by default, so that it can't lift its own limits. Select this to allow it anyway.";
  }
  const words =
    'A managing key sees and changes the whole account. Any other key sees only itself and changes nothing.';
  return isNew ? `Off for new keys, because apps do not need it. ${words}` : words;
}
