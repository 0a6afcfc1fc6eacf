import { type GatewayError, invalidJson } from '../../../domain/errors.ts';

/** Most values, names and signs that are read to find a fault, so that a body of a million commas costs a millisecond. */
const MOST_STEPS = 10_000;

/** Bytes of a body in which a fault is looked for. In 1.3 MB of line ends or escapes that took 66 ms; in this much, 10. */
const MOST_BYTES = 128 * 1024;
/** Bytes of the longest word or escape, which may be cut in two where the search ends. */
const CUT_BYTES = 16;

const VALUE = /[{["]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[ !#-[\]-\xff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** What comes after a value: the end of the object, of the list, or of the text. */
const AFTER: Readonly<Record<string, string>> = { '}': '"," or "}"', ']': '"," or "]"', '': 'nothing more' };
const FIRST_NAME = 'a name in double quotes or "}"';
const NAME = 'a name in double quotes';
const FIRST_ITEM = 'a value or "]"';
const ITEM = 'a value';

/** 400 `invalid_json`. `fault`: where the body is wrong, if that is known. */
export function notJson(fault?: string): GatewayError {
  return invalidJson(`The request body is not valid JSON${fault ? `: ${fault}` : ''}.`);
}

/**
 * The first place at which a body is no JSON, without its content: `expected ":" at line 1, column 9`. Undefined if it is
 * JSON, or if the place is beyond MOST_STEPS or MOST_BYTES.
 */
export function faultIn(body: Buffer): string | undefined {
  const text = body.toString('latin1', 0, MOST_BYTES);
  const end = body.length > MOST_BYTES ? MOST_BYTES - CUT_BYTES : Number.POSITIVE_INFINITY;
  const fault = firstFault(text);
  return fault && fault.at < end ? said(fault.expected, text, fault.at) : undefined;
}

interface JsonFault {
  readonly expected: string;
  readonly at: number;
}

function firstFault(text: string): JsonFault | undefined {
  const closers: string[] = [];
  let expected = ITEM;
  let at = 0;
  for (let step = 0; step < MOST_STEPS; step++) {
    at += lengthAt(SPACE, text, at);
    const sign = text[at] ?? '';
    const closer = closers.at(-1) ?? '';
    const isName = expected === NAME || expected === FIRST_NAME;
    if (expected === '":"') {
      if (sign !== ':') return { expected, at };
      at++;
      expected = ITEM;
    } else if (
      expected === AFTER[closer] ||
      (sign === closer && (expected === FIRST_NAME || expected === FIRST_ITEM))
    ) {
      if (sign === '' && closer === '') return undefined;
      if (sign === closer) closers.pop();
      else if (sign !== ',' || closer === '') return { expected, at };
      at++;
      expected = sign === ',' ? (closer === '}' ? NAME : ITEM) : (AFTER[closers.at(-1) ?? ''] ?? '');
    } else {
      const length = isName ? Number(sign === '"') : lengthAt(VALUE, text, at);
      if (length === 0) return { expected, at };
      at += length;
      if (sign === '{' || sign === '[') {
        closers.push(sign === '{' ? '}' : ']');
        expected = sign === '{' ? FIRST_NAME : FIRST_ITEM;
        continue;
      }
      if (sign === '"') {
        const end = endOfString(text, at);
        if (typeof end !== 'number') return end;
        at = end;
      }
      expected = isName ? '":"' : (AFTER[closer] ?? '');
    }
  }
  return undefined;
}

/** Index after the quote that closes a string; else what was expected in it. */
function endOfString(text: string, from: number): number | JsonFault {
  for (let at = from; ; ) {
    const found = at + lengthAt(PLAIN, text, at);
    if (text[found] === '"') return found + 1;
    if (found === text.length) return { expected: 'a closing quote', at: found };
    const length = lengthAt(ESCAPE, text, found);
    if (length === 0) {
      const isEscape = text[found] === '\\';
      return { expected: isEscape ? 'a valid escape' : 'an escape for a control character', at: found };
    }
    at = found + length;
  }
}

function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}

function said(expected: string, text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  // A byte of 10xxxxxx goes on with a character.
  const column = (before.at(-1) ?? '').replace(/[\x80-\xbf]/g, '').length + 1;
  return `expected ${expected} at line ${before.length}, column ${column}`;
}
