import { COUNTRY_CODES, normaliseCountry } from '../../../domain/countries.ts';

const NAMES = new Intl.DisplayNames(['en'], { type: 'region' });

export function countryName(code: string): string {
  return NAMES.of(code) ?? code;
}

/** Every country, by name. */
export const COUNTRIES: readonly { readonly code: string; readonly name: string }[] = COUNTRY_CODES.map(
  (code) => ({ code, name: countryName(code) }),
).sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** The code of a country that is named, or given by its code; undefined where there is no such country. */
export function countryCode(text: string): string | undefined {
  const wanted = text.trim().toLowerCase();
  const named = COUNTRIES.find(({ name }) => name.toLowerCase() === wanted);
  return named?.code ?? normaliseCountry(text.trim());
}
