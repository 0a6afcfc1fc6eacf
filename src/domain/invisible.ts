/** Control characters, and marks that hide or reorder text. */
const INVISIBLE = /[\p{Cc}\p{Cf}]/gu;
/** Those of them that JSON does not escape. */
const UNESCAPED = /[\x7f-\x9f]|\p{Cf}/gu;

/** Removes what a terminal obeys or does not show. */
export function withoutInvisible(text: string): string {
  return text.replace(INVISIBLE, '');
}

/** Escapes what a terminal obeys or does not show, in JSON. */
export function escapeInvisible(json: string): string {
  return json.replace(UNESCAPED, (character) =>
    Array.from({ length: character.length }, (_, at) => {
      return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
    }).join(''),
  );
}
