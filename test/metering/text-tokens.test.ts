import { test } from 'tap';
import { ElidedString, ElidedStrings } from '../../src/metering/json/elided-strings.ts';
import { TextTokens, tokensIn } from '../../src/metering/text-tokens.ts';
import { SAMPLES } from './text-samples.ts';

/** Raw text of a JSON string, as it arrives: UTF-8 as Latin-1. */
const rawOf = (text: string) => Buffer.from(JSON.stringify(text).slice(1, -1)).toString('latin1');

for (const { name, text, tokens } of SAMPLES) {
  test(`estimated tokens are within a quarter of o200k: ${name}`, async (t) => {
    const estimate = tokensIn(text);
    t.ok(estimate >= 0.75 * tokens && estimate <= 1.25 * tokens, `${estimate} estimated, ${tokens} counted`);
  });
}

test('text in pieces split anywhere, within characters and escapes too, gives the same estimate', async (t) => {
  for (const { name, text } of SAMPLES) {
    const start = `${text.slice(0, 200)} "\\" 😀 \ud83d\t\b\f`;
    for (const form of [rawOf(start), asciiOf(start)]) {
      for (let size = 1; size < 12; size++) {
        const pieces = new TextTokens();
        for (let at = 0; at < form.length; at += size) pieces.addJson(form.slice(at, at + size));
        if (pieces.tokens !== tokensIn(start)) t.fail(`${name} in pieces of ${size}: ${pieces.tokens}`);
      }
    }
  }
  t.pass('every size');
});

/** Raw text of a JSON string with an escape for every character outside ASCII, as Python writes it. */
function asciiOf(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(text)
    .slice(1, -1)
    .replace(/[^\0-\x7f]/g, (units) => units.split('').map(escaped).join(''));
}

test('a text too long to be read is estimated from all over it', async (t) => {
  const [english, chinese] = ['English', 'Chinese'].map(
    (name) => SAMPLES.find((one) => one.name === name)?.text ?? '',
  );
  const halves = [english, chinese].map((text = '') => text.repeat(Math.ceil(2_000_000 / text.length)));
  const all = halves.reduce((sum, text) => {
    const tokens = new TextTokens();
    tokens.add(text);
    return sum + tokens.tokens;
  }, 0);
  const ratio = tokensIn(halves.join('')) / all;
  t.ok(ratio > 0.95 && ratio < 1.05, String(ratio));
});

test('elided strings count where their placeholders are', async (t) => {
  const strings = new ElidedStrings();
  const long = new ElidedString(Buffer.from('word '.repeat(20_000)));
  const placeholder = strings.add(long);
  const counted = strings.tokensIn(`short ${placeholder} ${JSON.stringify([placeholder])}`);
  const exact = 2 * tokensIn('word '.repeat(20_000)) + tokensIn('short [""]');
  t.ok(Math.abs(counted / exact - 1) < 0.02, `${counted} instead of ${exact}`);
});

test('unusual text: nothing is free but white space, and half a surrogate pair or escape is no error', async (t) => {
  for (const text of ['a', '9', '!', 'я', '字', '😀', '\n', 'ع']) t.ok(tokensIn(text) >= 1, text);
  for (const text of ['', ' ', '\t \t']) t.equal(tokensIn(text), 0);
  for (const run of ['a', 'é', 'я', '字', '9', '=', 'ع']) t.ok(tokensIn(run.repeat(10_000)) >= 900, run);
  const cut = new TextTokens();
  for (const raw of ['a\\', 'u00', '\\ud83d', '\xf0\x9f', '\xff', '\x80']) cut.addJson(raw);
  t.ok(cut.tokens > 0 && cut.tokens < 10);
});
