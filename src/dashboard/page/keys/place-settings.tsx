import { COUNTRIES, countryName } from '../format/countries.ts';
import { ChipInput } from '../ui/chip-input.tsx';
import { Section } from '../ui/elements.tsx';
import type { KeyFormPart } from './key-form-part.ts';
import { ADDRESS, COUNTRY, ORIGIN } from './read-draft.ts';

const COUNTRY_NAMES = COUNTRIES.map(({ name }) => name);

/** Fields for the addresses, countries and origins that calls may come from. */
export function PlaceSettings({ draft, errors, change }: KeyFormPart) {
  return (
    <Section title="Where from">
      <ChipInput
        name="allowed_ips"
        label="Allowed IP addresses"
        hint="Addresses or CIDR ranges, IPv4 or IPv6. Empty: any."
        placeholder="203.0.113.0/24"
        list={draft.ips}
        onList={(ips) => change({ ips })}
        kind={ADDRESS}
        error={errors.allowed_ips}
      />
      <ChipInput
        name="allowed_origins"
        label="Allowed browser origins"
        hint="Pages that may use the key in a browser: https://app.example.com, https://*.example.com for everything below it, or example.com. Calls without an origin, as from servers, are refused then. Empty: any."
        placeholder="https://app.example.com"
        list={draft.origins}
        onList={(origins) => change({ origins })}
        kind={ORIGIN}
        error={errors.allowed_origins}
      />
      <ChipInput
        name="blocked_countries"
        label="Blocked countries"
        hint="By name or by a code of two or three letters. An address of no known country passes."
        placeholder="Name of a country"
        list={draft.countries}
        onList={(countries) => change({ countries })}
        kind={COUNTRY}
        show={(code) => `${countryName(code)} (${code})`}
        suggestions={COUNTRY_NAMES}
        error={errors.blocked_countries}
      />
    </Section>
  );
}
