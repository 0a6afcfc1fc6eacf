import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };

/** ISO 3166-1 alpha-2, and XK, the code that address data uses for Kosovo. */
export const COUNTRY_CODES: readonly string[] = codes.map(([alpha2]) => alpha2 ?? '');
const ALPHA_2: ReadonlySet<string> = new Set(COUNTRY_CODES);

/** Returns the code in upper case; undefined for an unknown ISO 3166-1 alpha-2 code (specification section 2). */
export function normalizeCountry(code: string): string | undefined {
  // Before toUpperCase, which turns the one letter ß into the two of a code.
  if (!/^[a-z]{2}$/i.test(code)) return undefined;
  const upper = code.toUpperCase();
  return ALPHA_2.has(upper) ? upper : undefined;
}
