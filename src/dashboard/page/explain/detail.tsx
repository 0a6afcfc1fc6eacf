import { rowAt, WIRE_NAMES } from '../../../domain/key-settings.ts';
import { countryName } from '../format/countries.ts';
import { Time } from '../ui/elements.tsx';

/** Patterns of the API's field names, with the names of those fields on this page. */
const WORDS: readonly (readonly [RegExp, string])[] = WIRE_NAMES.map(rowAt).flatMap((row) =>
  row.restricts && row.inText ? [[new RegExp(`\\b${row.wire}\\b`, 'g'), row.inText] as const] : [],
);
const ANOTHERS: readonly (readonly [RegExp, string])[] = [
  [/\bYour IP address\b/g, 'The IP address'],
  [/\byour IP address\b/g, 'the IP address'],
];
const MOMENT = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/;

/** Detail of a check. The gateway words it for the caller of a model; here it is reworded for the owner of the key. */
export function Detail({ words, isOwnAddress }: { words: string; isOwnAddress: boolean }) {
  const text = [...WORDS, ...(isOwnAddress ? [] : ANOTHERS)]
    .reduce((said, [wire, word]) => said.replace(wire, word), words)
    .replace(
      /\b(from|in) ([A-Z]{2})\b/g,
      (_, where: string, code: string) => `${where} ${countryName(code)}`,
    );
  return (
    <p className="hint">
      {text.split(MOMENT).map((part) => (MOMENT.test(part) ? <Time key={part} at={part} seconds /> : part))}
    </p>
  );
}
