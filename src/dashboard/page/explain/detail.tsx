import type { ReactNode } from 'react';
import type { CheckView, ExplanationView } from '../../../api/explain/explanation-view.ts';
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

const TIME = ({ at }: Checked) => (
  <>
    Checked at <Time at={at} seconds />.
  </>
);

/** Details of the checks that depend on the caller, from the fields of the answer. */
const DETAILS: Readonly<Record<string, (checked: Checked) => ReactNode>> = {
  expires_at: TIME,
  active_hours: TIME,
  allowed_ips: ({ caller: { ip }, isOwnAddress }) =>
    ip === null ? 'The IP address is unknown.' : `Checked from ${isOwnAddress ? 'your address ' : ''}${ip}.`,
  blocked_countries: ({ caller: { country } }) =>
    country === null ? 'The country is unknown.' : `Checked from ${countryName(country)}.`,
  allowed_origins: ({ caller: { origin } }) =>
    origin === null ? 'Checked without an origin.' : `Checked with the origin ${origin}.`,
};

/** Details of failed checks that the API words for whoever sends the call. */
const FAILED: Readonly<Record<string, string>> = {
  allowed_models: 'The key cannot call this model.',
  allowed_categories: 'The key cannot call models of this modality.',
};

/** The reason for the result of a check. */
export function Detail({ of: { check, state, detail }, checked }: { of: CheckView; checked: Checked }) {
  const words = DETAILS[check]?.(checked) ?? (state === 'failed' ? FAILED[check] : undefined) ?? detail;
  return <p className="hint">{words}</p>;
}
