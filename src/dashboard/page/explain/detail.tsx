import type { ReactNode } from 'react';
import type { CheckView, ExplanationView } from '../../../api/explain/explanation-view.ts';
import { CALLER_FACTS, type CallerFact } from '../../../domain/caller-facts.ts';
import { fieldAt, keyField } from '../../../domain/key-settings.ts';
import { countryName } from '../format/countries.ts';
import { Time } from '../ui/elements.tsx';

/** An explained call: the caller that the gateway checked, and what the user asked about. */
export interface Checked {
  readonly caller: ExplanationView['caller'];
  /** Time of the call, in ISO 8601. */
  readonly at: string;
  /** True if the address is the one that this page's requests come from. */
  readonly isOwnAddress: boolean;
}

/** Facts that are shown otherwise than the API has them. */
const SHOWN: Readonly<Partial<Record<CallerFact, (value: string, checked: Checked) => string>>> = {
  ip: (ip, { isOwnAddress }) => (isOwnAddress ? `your address ${ip}` : ip),
  country: (code) => countryName(code),
};

/** Detail of a check that depends on the caller, from the fields of the answer. */
function callerDetail(check: string, checked: Checked): ReactNode {
  const field = fieldAt(check);
  const row = field && keyField(field);
  if (row?.restricts !== 'caller') return undefined;
  const fact = row.reads?.at(-1);
  if (!fact) {
    return (
      <>
        Checked at <Time at={checked.at} seconds />.
      </>
    );
  }
  const value = checked.caller[fact];
  return CALLER_FACTS[fact].checked(value && (SHOWN[fact]?.(value, checked) ?? value));
}

/** Details of failed checks that the API words for whoever sends the call. */
const FAILED: Readonly<Record<string, string>> = {
  allowed_models: 'The key cannot call this model.',
  allowed_categories: 'The key cannot call models of this modality.',
};

/** The reason for the result of a check. */
export function Detail({ of: { check, state, detail }, checked }: { of: CheckView; checked: Checked }) {
  const words = callerDetail(check, checked) ?? (state === 'failed' ? FAILED[check] : undefined) ?? detail;
  return <p className="hint">{words}</p>;
}
