import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { test } from 'tap';
import { elideLongStrings } from '../../../../src/gateway/request/json/elide-long-strings.ts';
import { inMemory } from '../../../../src/metering/byte-source.ts';
import { base64Length } from '../../../../src/metering/content-parts.ts';

/** What strings are made of: raw, as between quotes. Some are not allowed there. */
const GOOD = [
  'a',
  'é',
  '€',
  '😀',
  '\\ud83d',
  '\\ude00',
  '\\n',
  '\\\\',
  '\\"',
  '\\/',
  '\\u0041',
  'QUJD',
  '=',
  ',',
];
const BAD = ['\n', '\\x', '\\u12', '\\', '"', '\\ud'];

/** Strings up to three windows long: a pattern again and again, behind some other characters so that it is cut anywhere. */
const rawString = (pieces: readonly string[]) =>
  fc
    .record({
      start: fc.constantFrom('', 'data:image/png;base64,', 'data:x'),
      offset: fc.nat(12),
      pattern: fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }),
      length: fc.oneof(fc.nat(20), fc.integer({ min: 4_000, max: 4_200 }), fc.nat(700_000)),
      end: fc.constantFrom('', '=', '==', '===', 'a'),
    })
    .map(({ start, offset, pattern, length, end }) => {
      const one = pattern.join('');
      return start + 'b'.repeat(offset) + one.repeat(Math.ceil(length / Buffer.byteLength(one))) + end;
    });

const documents = (pieces: readonly string[]) =>
  fc
    .array(fc.tuple(rawString(GOOD), rawString(pieces)), { maxLength: 3 })
    .map((members) => `{ "k":[1.50, {"x":null}] ${members.map(([k, v]) => `, "${k}" :\t"${v}"`).join('')}}`);

test('JSON without its long strings is JSON if and only if the whole is', async (t) => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  let valid = 0;
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(documents([...GOOD, ...BAD]), async (text) => {
      const accepted = await elideLongStrings(inMemory(Buffer.from(text))).then(
        (elided) => isJson(elided.text),
        () => false,
      );
      runs++;
      if (accepted) valid++;
      return accepted === isJson(text);
    }),
    { numRuns: 150 },
  );
  t.ok(valid > 10 && valid < runs - 10, `${valid} of ${runs} were valid`);
});

test('what is known of a long string is what is true of it', async (t) => {
  let long = 0;
  await fc.assert(
    fc.asyncProperty(documents(GOOD), async (text) => {
      const { text: elided, elidedStrings } = await elideLongStrings(inMemory(Buffer.from(text)));
      const value = JSON.parse(elided) as object;
      const members = Object.values(JSON.parse(text) as object).filter((one) => typeof one === 'string');
      const found = Object.values(value).filter((one) => typeof one === 'string');
      // Keys that are elided keep their order, unless two were the same.
      if (members.length !== found.length) return;
      for (const [index, member] of members.entries()) {
        const stand = found[index] as string;
        const known = elidedStrings.get(stand);
        if (!known) {
          t.equal(stand, member);
          continue;
        }
        long++;
        t.equal(known.characters, [...member].length);
        t.equal(known.units, member.length);
        t.equal(base64Length(stand, elidedStrings), base64Length(member, undefined));
        t.ok(stand.startsWith(member.slice(0, 64)));
      }
    }),
    { numRuns: 100 },
  );
  t.ok(long > 20, `${long} long strings were looked at`);
});

test('a place in the text without long strings is found in the body', async (t) => {
  await fc.assert(
    fc.asyncProperty(documents(GOOD), async (text) => {
      const bytes = Buffer.from(`${text.slice(0, -1)},"here€":"€"}`);
      const elided = await elideLongStrings(inMemory(bytes));
      const at = elided.offsetOf(elided.text.lastIndexOf('"here€"'));
      return bytes.toString('utf8', at) === '"here€":"€"}' && elided.offsetOf(0) === 0;
    }),
    { numRuns: 100 },
  );
  t.pass();
});

test('bytes that are no UTF-8 are found wherever they stand', async (t) => {
  const bytes = Buffer.from(`{"a":"${'€'.repeat(300_000)}","b":"x"}`);
  t.ok(await elideLongStrings(inMemory(bytes)));
  for (const at of [6, 7, 262_143, 262_144, 262_145, bytes.length - 12]) {
    const broken = Buffer.from(bytes);
    broken[at] = 0xff;
    t.notOk(isUtf8(broken));
    await t.rejects(elideLongStrings(inMemory(broken)), { code: 'invalid_json' });
  }
});

test('tokens are counted of text for which placeholders stand', async (t) => {
  const body = JSON.stringify({ a: 'word '.repeat(100_000), b: 'short' });
  const { text, elidedStrings } = await elideLongStrings(inMemory(Buffer.from(body)), true);
  const value = JSON.parse(text) as { a: string; b: string };
  const counted = await elidedStrings.counting(async (some) => some.split(' ').length - 1)(
    `${value.b} ${value.a} ${JSON.stringify([value.a])}`,
  );
  t.ok(Math.abs(counted - 200_002) < 500, `${counted} words`);
});

test('a client cannot write a placeholder', async (t) => {
  const one = await elideLongStrings(inMemory(Buffer.from(JSON.stringify(['x'.repeat(5_000)]))));
  const [placeholder] = JSON.parse(one.text) as [string];
  t.ok(one.elidedStrings.get(placeholder));
  const two = await elideLongStrings(inMemory(Buffer.from(JSON.stringify([placeholder, 'y'.repeat(5_000)]))));
  t.equal(two.elidedStrings.get(placeholder), undefined);
});
