import { countryName } from '../format/countries.ts';
import { Time } from '../ui/elements.tsx';

/** Patterns of the API's field names, with the names of those fields on this page. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\ballowed_ips\b/g, 'allowed IP addresses'],
  [/\ballowed_origins\b/g, 'allowed origins'],
  [/\bblocked_countries\b/g, 'blocked countries'],
  [/\ballowed_models\b/g, 'allowed models'],
  [/\ballowed_categories\b/g, 'modalities'],
  [/\bits expires_at\b/g, 'its expiry'],
];
const ANOTHERS: readonly (readonly [RegExp, string])[] = [
  [/\bYour IP address, ([^,]+),/g, 'The IP address $1'],
  [/\byour IP address\b/g, 'the IP address'],
];
const MOMENT = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** Detail of a check. The gateway words it for the caller of a model; here it is reworded for the owner of the key. */
export function Detail({ words, isOwnAddress }: { words: string; isOwnAddress: boolean }) {
  const text = [...WORDS, ...(isOwnAddress ? [] : ANOTHERS)]
    .reduce((said, [wire, word]) => said.replace(wire, word), words)
    .replace(/\bfrom ([A-Z]{2})\b/g, (_, code: string) => `from ${countryName(code)}`);
  return (
    <p class="hint">
      {text.split(MOMENT).map((part) => (MOMENT.test(part) ? <Time key={part} at={part} seconds /> : part))}
    </p>
  );
}
