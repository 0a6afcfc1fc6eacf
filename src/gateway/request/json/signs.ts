// Meanings of a byte of JSON outside of strings; 0 is any other byte.
export const QUOTE = 1;
export const COMMA = 2;
export const COLON = 3;
export const OPEN_OBJECT = 4;
export const OPEN_LIST = 5;
export const CLOSE = 6;

/** The meaning of each byte. */
export const SIGNS = new Uint8Array(256);
for (const [sign, meaning] of [
  ['"', QUOTE],
  [',', COMMA],
  [':', COLON],
  ['{', OPEN_OBJECT],
  ['[', OPEN_LIST],
  ['}', CLOSE],
  [']', CLOSE],
] as const)
  SIGNS[sign.charCodeAt(0)] = meaning;
