import { Section } from '../ui/elements.tsx';
import { CallLimitFields } from './call-limit-fields.tsx';
import type { KeyFormPart } from './key-draft.ts';

/** Fields for how many calls the key may make. */
export function CallLimitSettings({ draft, errors, change }: KeyFormPart) {
  return (
    <Section title="Rate limits">
      <p class="section-words hint">
        Empty: no limit. A call beyond one is answered with 429, and told when to come again. Limits of the
        account hold as well.
      </p>
      <CallLimitFields
        texts={draft.callLimits}
        onTexts={(callLimits) => change({ callLimits })}
        errorAt={(name) => errors[name]}
      />
    </Section>
  );
}
