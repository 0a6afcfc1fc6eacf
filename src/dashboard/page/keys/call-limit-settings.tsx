import { Section } from '../ui/elements.tsx';
import { CallLimitFields } from './call-limit-fields.tsx';
import type { KeyFormPart } from './key-draft.ts';

/** Fields for how many calls the key may make. */
export function CallLimitSettings({ draft, errors, change }: KeyFormPart) {
  return (
    <Section title="Rate limits">
      <p className="section-words hint">
        Leave empty for no limit. Calls beyond a limit get 429 with the time to wait. The rate limits of the
        account apply, too.
      </p>
      <CallLimitFields
        texts={draft.callLimits}
        onTexts={(callLimits) => change({ callLimits })}
        errorAt={(name) => errors[name]}
      />
    </Section>
  );
}
