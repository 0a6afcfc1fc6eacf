import codes from 'i18n-iso-countries/codes.json' with { type: 'json' };
import { COUNTRY_CODES, normalizeCountry } from '../../../domain/countries.ts';

const NAMES = new Intl.DisplayNames(['en'], { type: 'region' });

/** Names of countries that browsers do not know: everyday, official and former ones. */
const OTHER_NAMES = `
AE UAE, Emirates|BA Bosnia|BN Brunei Darussalam|BO Plurinational State of Bolivia|BY Belorussia|CD DRC, DR Congo, Congo-Kinshasa,
Democratic Republic of the Congo, Zaire|CF CAR|CG Congo, Republic of the Congo, Congo-Brazzaville|CI Ivory Coast, Cote d Ivoire|
CN PRC, Mainland China, People's Republic of China|CV Cape Verde|CZ Czech Republic|DE Deutschland|FK Falklands|FM Micronesia|
GB UK, U.K., Great Britain, Britain, England, Scotland, Wales, Northern Ireland|HK Hong Kong|IR Islamic Republic of Iran|
KP DPRK, North Korea|KR Korea, Republic of Korea|LA Lao, Laos|MD Republic of Moldova|MK Macedonia, FYROM|MM Burma, Myanmar|
MO Macau, Macao|NL Holland, The Netherlands|PS Palestine, State of Palestine|RU Russian Federation|ST Sao Tome|SY Syrian Arab Republic|
SZ Swaziland, Eswatini|TL East Timor|TR Turkey, Turkiye|TT Trinidad, Tobago|TW Republic of China|TZ United Republic of Tanzania|
US USA, U.S.A., U.S., America, United States of America|VA Vatican, Holy See|VC Saint Vincent|VN Viet Nam|XK Kosovo`;

export function countryName(code: string): string {
  return NAMES.of(code) ?? code;
}

/** All countries, sorted by name. */
export const COUNTRIES: readonly { readonly code: string; readonly name: string }[] = COUNTRY_CODES.map(
  (code) => ({ code, name: countryName(code) }),
).sort((a, b) => a.name.localeCompare(b.name, 'en'));

/** Two-letter codes by folded name (see `folded`) and by three-letter code. */
const BY_NAME: ReadonlyMap<string, string> = new Map([
  ...OTHER_NAMES.split('|').flatMap((line) => {
    const [code = '', ...words] = line.trim().split(/\s+/);
    return words
      .join(' ')
      .split(',')
      .map((name) => [folded(name), code] as const);
  }),
  ...codes.map(([alpha2 = '', alpha3 = '']) => [folded(alpha3), alpha2] as const),
  ...COUNTRIES.map(({ code, name }) => [folded(name), code] as const),
]);

/** Two-letter code of a country given by its name or its two- or three-letter code; undefined if there is none. */
export function countryCode(text: string): string | undefined {
  return BY_NAME.get(folded(text)) ?? normalizeCountry(text.trim());
}

/** A name in lower case without accents, dots and apostrophes, and with `and` spelt out. */
function folded(name: string): string {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036f.’']/g, '')
    .replaceAll('&', 'and')
    .replace(/[\s-]+/g, ' ')
    .trim()
    .toLowerCase();
}
