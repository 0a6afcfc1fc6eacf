import { test } from 'tap';
import { searchable, stringEnd } from '../../../../src/gateway/request/json/scan.ts';
import fc, { MANY } from '../../../helper/suite/fast-check.ts';

/** Significant characters, at any distance from each other. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"',
        '\\',
        '\\\\',
        '\\n',
        '\\u00e9',
        '\\u12',
        '\\x',
        '\n',
        '\x1f',
        ' ',
        '!',
        '#',
        'é',
        '😀',
        '\x7f',
      ),
      fc.nat(40).map((length) => 'A'.repeat(length)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** The index after which JSON.parse takes the string as ended, "invalid", or that it goes on. */
function expected(content: string): number | 'invalid' | 'open' {
  for (let end = content.indexOf('"'); end >= 0; end = content.indexOf('"', end + 1)) {
    try {
      JSON.parse(`"${content.slice(0, end)}"`);
      return end;
    } catch {}
  }
  // Cut within an escape, or before its end.
  for (const rest of ['', '"', 'n', '\\', '00', '000', '0000', 'u0000']) {
    try {
      JSON.parse(`"${content}${rest}"`);
      return 'open';
    } catch {}
  }
  return 'invalid';
}

test('a string at any place ends where JSON.parse says', async (t) => {
  const seen = { number: 0, invalid: 0, open: 0 };
  fc.assert(
    fc.property(text, fc.nat(7), (raw, before) => {
      const content = Buffer.from(raw).toString('latin1');
      const bytes = Buffer.from('x'.repeat(before) + content, 'latin1');
      const wanted = expected(content);
      let found: number | 'invalid' | 'open';
      try {
        const end = stringEnd(searchable(bytes), before);
        found = end < 0 ? 'open' : end - before;
      } catch {
        found = 'invalid';
      }
      seen[typeof wanted === 'number' ? 'number' : wanted]++;
      return found === wanted;
    }),
    MANY,
  );
  for (const [kind, times] of Object.entries(seen)) t.ok(times > 100, `${kind}: ${times}`);
});

test('a string that is cut within an escape goes on with it', (t) => {
  for (const [raw, read] of [
    ['abc', 3],
    ['abc\\', 3],
    ['abc\\u', 3],
    ['abc\\u00e', 3],
    ['abc\\u00e9', 9],
    ['abc\\\\', 5],
  ] as const) {
    t.equal(stringEnd(searchable(Buffer.from(raw)), 0), ~read, raw);
  }
  t.end();
});

test('bytes that are not aligned are read all the same', (t) => {
  const bytes = Buffer.from('xxxxxabcdefgh"');
  for (let from = 0; from < 5; from++) {
    const part = bytes.subarray(from);
    t.equal(stringEnd(searchable(part), 0), part.length - 1);
  }
  t.end();
});
