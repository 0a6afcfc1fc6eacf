import { CallLimitFields } from './call-limit-fields.tsx';
import type { KeyFormPart } from './key-draft.ts';
import { SettingGroup } from './setting-group.tsx';

/** Fields for how many calls the key may make. */
export function CallLimitSettings({ draft, errors, change }: KeyFormPart) {
  return (
    <SettingGroup
      title="Rate limits"
      words="Leave empty for no limit. Calls beyond a limit get 429 with the time to wait. The rate limits of the account apply, too."
    >
      <CallLimitFields
        texts={draft.callLimits}
        onTexts={(callLimits) => change({ callLimits })}
        errorAt={(name) => errors[name]}
      />
    </SettingGroup>
  );
}
