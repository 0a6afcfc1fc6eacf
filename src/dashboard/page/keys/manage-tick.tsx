import type { KeyChange } from '../api/keys.ts';
import type { KeyFormPart } from './key-form-part.ts';
import { isOwnKey } from './own-key.ts';
import { changesOf, readDraft } from './read-draft.ts';

const RESTRICTIONS = [
  'allowed_models',
  'allowed_categories',
  'spending_limit',
  'active_hours',
  'allowed_ips',
  'allowed_origins',
  'blocked_countries',
  'expires_at',
] as const;

/** Whether the key may manage: as ticked, else as the gateway will decide by the restrictions (specification section 2). */
export function ManageTick({ draft, errors, change, known }: KeyFormPart) {
  const restricts = carriesRestriction(
    known ? changesOf(draft, known, readDraft(draft)) : readDraft(draft).body,
  );
  const takesAway = restricts && !(known && isOwnKey(known));
  const unsaid = takesAway ? false : (known?.can_manage ?? true);
  const isTicked = draft.canManage ?? unsaid;
  const loses = draft.canManage === undefined && takesAway && (known?.can_manage ?? true);
  return (
    <div class="field">
      <label class="tick">
        <input
          type="checkbox"
          name="can_manage"
          checked={isTicked}
          aria-describedby="field-can_manage-hint field-can_manage-error"
          aria-invalid={errors.can_manage ? 'true' : undefined}
          onChange={(event) => change({ canManage: event.currentTarget.checked })}
        />
        <span>May manage keys, the threshold and webhooks</span>
      </label>
      <p class="hint" id="field-can_manage-hint" aria-live="polite">
        {loses
          ? 'A restricted key does not manage, so that it cannot lift its own limits. Tick the box to let it all the same.'
          : 'Every key can see what is on this page; a key that manages can change it.'}
      </p>
      <p class="field-error" id="field-can_manage-error">
        {errors.can_manage}
      </p>
    </div>
  );
}

function carriesRestriction(change: KeyChange): boolean {
  return RESTRICTIONS.some((field) => {
    const value = change[field];
    return typeof value === 'number' || (value !== undefined && value !== null && value.length > 0);
  });
}
