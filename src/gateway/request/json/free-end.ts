import type { JsonCounts } from './json-counts.ts';
import { notJson } from './not-json.ts';
import { CLOSE, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE, SIGNS } from './signs.ts';
import { type Searchable, stringEnd } from './string-end.ts';

const [MINUS, PLUS, POINT, SMALL_E, LARGE_E, ZERO, NINE, CLOSE_LIST] = Buffer.from(
  '-+.eE09]',
) as unknown as readonly [number, number, number, number, number, number, number, number];
const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word));

// Allowed next tokens, as bits.
const A_NAME = 1;
const A_COLON = 2;
const A_VALUE = 4;
const A_COMMA = 8;
const AN_END = 16;

/**
 * Index of the bracket that closes the object or list which opens at `open`. Checks that it is valid JSON, so that nobody has
 * to parse it: a schema, of which an agent sends dozens with each call. Throws 400 `invalid_json`.
 */
export function freeEnd(search: Searchable, open: number, counts: JsonCounts): number {
  const { bytes } = search;
  const areObjects: boolean[] = [];
  let expected = A_VALUE;
  let nameFrom = 0;
  let nameEnd = 0;
  for (let at = open; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const sign = SIGNS[byte] as number;
    if (sign === 0) {
      if (isSpace(byte)) continue;
      expect(expected, A_VALUE);
      at = scalarEnd(bytes, at) - 1;
      expected = A_COMMA | AN_END;
    } else if (sign === QUOTE) {
      expect(expected, A_NAME | A_VALUE);
      const end = stringEnd(search, at + 1);
      if (end < 0) break;
      nameFrom = at + 1;
      nameEnd = end;
      expected = (expected & A_NAME) !== 0 ? A_COLON : A_COMMA | AN_END;
      at = end;
    } else if (sign === COLON) {
      expect(expected, A_COLON);
      counts.name(bytes, nameFrom, nameEnd);
      expected = A_VALUE;
    } else if (sign === COMMA) {
      expect(expected, A_COMMA);
      counts.comma();
      expected = areObjects.at(-1) === true ? A_NAME : A_VALUE;
    } else if (sign === CLOSE) {
      expect(expected, AN_END);
      if (areObjects.pop() === (byte === CLOSE_LIST)) break;
      counts.close();
      if (areObjects.length === 0) return at;
      expected = A_COMMA | AN_END;
    } else {
      expect(expected, A_VALUE);
      counts.open();
      areObjects.push(sign === OPEN_OBJECT);
      expected = sign === OPEN_LIST ? A_VALUE | AN_END : A_NAME | AN_END;
    }
  }
  throw notJson();
}

function expect(expected: number, found: number): void {
  if ((expected & found) === 0) throw notJson();
}

function scalarEnd(bytes: Buffer, from: number): number {
  const end = numberEnd(bytes, from) ?? wordEnd(bytes, from);
  if (end === undefined) throw notJson();
  return end;
}

/** Index after the number at `from`; undefined if there is none. The text after it is checked as the next token. */
function numberEnd(bytes: Buffer, from: number): number | undefined {
  const first = bytes[from] === MINUS ? from + 1 : from;
  let end = digitsEnd(bytes, first);
  if (end === first || (bytes[first] === ZERO && end > first + 1)) return undefined;
  if (bytes[end] === POINT) {
    const fraction = end + 1;
    end = digitsEnd(bytes, fraction);
    if (end === fraction) return undefined;
  }
  if (bytes[end] === SMALL_E || bytes[end] === LARGE_E) {
    const sign = bytes[end + 1];
    const exponent = sign === PLUS || sign === MINUS ? end + 2 : end + 1;
    end = digitsEnd(bytes, exponent);
    if (end === exponent) return undefined;
  }
  return end;
}

function digitsEnd(bytes: Buffer, from: number): number {
  let end = from;
  while (end < bytes.length && (bytes[end] as number) >= ZERO && (bytes[end] as number) <= NINE) end++;
  return end;
}

function wordEnd(bytes: Buffer, from: number): number | undefined {
  const word = WORDS.find((one) => one[0] === bytes[from]);
  if (!word) return undefined;
  for (let index = 1; index < word.length; index++) if (bytes[from + index] !== word[index]) return undefined;
  return from + word.length;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
