import { type GatewayError, invalidJson } from '../../../domain/errors.ts';

/** Maximum tokens read to find an error, so that a body of a million commas costs a millisecond. */
const MOST_STEPS = 10_000;

/** Maximum bytes searched for an error. 1.3 MB of line ends or escapes took 66 ms; this much takes 10. */
const MOST_BYTES = 128 * 1024;
/** Longest word or escape, in bytes, which may be cut off at the end of the search. */
const CUT_BYTES = 16;

const VALUE = /[{["]|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const SPACE = /[ \t\n\r]*/y;
const PLAIN = /[ !#-[\]-\xff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Expected after a value: the end of the object, the list, or the text. */
const AFTER: Readonly<Record<string, string>> = { '}': '"," or "}"', ']': '"," or "]"', '': 'nothing more' };
const FIRST_NAME = 'a name in double quotes or "}"';
const NAME = 'a name in double quotes';
const FIRST_ITEM = 'a value or "]"';
const ITEM = 'a value';

/** 400 `invalid_json`. `fault`: position of the error, if known. */
export function notJson(fault?: string): GatewayError {
  return invalidJson(`The request body is not valid JSON${fault ? `: ${fault}` : ''}.`);
}

/**
 * Describes the first JSON error without quoting content: `expected ":" at line 1, column 9`. Undefined if the body is
 * valid, or the error is beyond MOST_STEPS or MOST_BYTES.
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

/** Index after the closing quote of a string, or what was expected in it. */
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
  // A byte 10xxxxxx continues a character.
  const column = (before.at(-1) ?? '').replace(/[\x80-\xbf]/g, '').length + 1;
  return `expected ${expected} at line ${before.length}, column ${column}`;
}
