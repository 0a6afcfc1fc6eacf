import { test } from 'tap';
import {
  closingQuote,
  closingQuoteAmongEscapes,
  isEscaped,
  skipSpace,
  valueEnd,
} from '../../src/metering/json/lexer.ts';
import fc, { MANY } from '../helper/suite/fast-check.ts';

/** Texts in which quotes and backslashes are as frequent as other characters, and long texts between them. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('"', '\\', '\\\\', '{', '}', '[', ',', ' ', 'é', '日', '😀'),
      fc.string({ maxLength: 40 }),
      fc.nat(300).map((length) => 'A'.repeat(length)),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));
const space = fc.constantFrom('', ' ', '\n', '\t\r ');

/** Where JSON.parse finds a complete string: the first quote up to which the text is a valid string; else -1. */
function closedByParsing(content: string): number {
  for (let at = content.indexOf('"'); at >= 0; at = content.indexOf('"', at + 1)) {
    try {
      JSON.parse(`"${content.slice(0, at)}"`);
      return at;
    } catch {}
  }
  return -1;
}

test('a string closes at the same quote as in JSON.parse', async (t) => {
  fc.assert(
    fc.property(text, text, (content, after) => {
      const raw = JSON.stringify(content).slice(1);
      const all = `${raw}${after}`;
      const close = closedByParsing(all);
      const latin1 = Buffer.from(all).toString('latin1');
      const closeByte = Buffer.byteLength(raw) - 1;
      return (
        close === raw.length - 1 &&
        closingQuote(all, 0) === close &&
        closingQuoteAmongEscapes(all, 0) === close &&
        closingQuote(latin1, 0) === closeByte &&
        closingQuoteAmongEscapes(latin1, 0) === closeByte
      );
    }),
    MANY,
  );
  t.pass('2,000 strings');
});

test('a string that does not end has no closing quote, wherever it is cut', async (t) => {
  fc.assert(
    fc.property(text, fc.nat(), (content, cut) => {
      const raw = JSON.stringify(content).slice(1, -1);
      const part = raw.slice(0, cut % (raw.length + 1));
      return closingQuote(part, 0) === -1 && closingQuoteAmongEscapes(part, 0) === -1;
    }),
    MANY,
  );
  t.pass('1,000 strings');
});

test('a string that was cut goes on where its parts say', async (t) => {
  fc.assert(
    fc.property(text, fc.nat(), (content, place) => {
      const raw = JSON.stringify(content).slice(1);
      const cut = place % raw.length;
      const [first, second] = [raw.slice(0, cut), raw.slice(cut)];
      const escaped = isEscaped(first, first.length, 0);
      const from = escaped ? 1 : 0;
      return (
        closingQuote(second, from) === second.length - 1 &&
        closingQuoteAmongEscapes(second, from) === second.length - 1
      );
    }),
    MANY,
  );
  t.pass('1,000 cuts');
});

test('a value ends where JSON.parse reads it whole', async (t) => {
  fc.assert(
    fc.property(fc.json(), text, space, space, (json, more, before, after) => {
      const value = JSON.stringify([json, more, JSON.parse(json)]);
      for (const one of [value, json, JSON.stringify(more)]) {
        const inList = `[${before}${one}${after},1]`;
        const start = skipSpace(inList, 1);
        const end = valueEnd(inList, start);
        if (start !== 1 + before.length || end !== start + one.length) return false;
      }
      return true;
    }),
    MANY,
  );
  for (const one of ['1', '-1.5e3', 'true', 'null', '""', '{}', '[]'])
    t.equal(valueEnd(one, 0), one.length, one);
});
