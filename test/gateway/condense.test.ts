import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { test } from 'tap';
import { condense } from '../../src/gateway/request/json/condense.ts';
import { inMemory } from '../../src/metering/byte-source.ts';
import { base64Length } from '../../src/metering/content-parts.ts';

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

test('condensed JSON is JSON if and only if the whole is', async (t) => {
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
      const accepted = await condense(inMemory(Buffer.from(text))).then(
        (condensed) => isJson(condensed.text),
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
      const { text: condensed, longTexts } = await condense(inMemory(Buffer.from(text)));
      const value = JSON.parse(condensed) as object;
      const members = Object.values(JSON.parse(text) as object).filter((one) => typeof one === 'string');
      const found = Object.values(value).filter((one) => typeof one === 'string');
      // Keys that are condensed keep their order, unless two were the same.
      if (members.length !== found.length) return;
      for (const [index, member] of members.entries()) {
        const stand = found[index] as string;
        const known = longTexts.get(stand);
        if (!known) {
          t.equal(stand, member);
          continue;
        }
        long++;
        t.equal(known.characters, [...member].length);
        t.equal(known.units, member.length);
        t.equal(base64Length(stand, longTexts), base64Length(member, undefined));
        t.ok(stand.startsWith(member.slice(0, 64)));
      }
    }),
    { numRuns: 100 },
  );
  t.ok(long > 20, `${long} long strings were looked at`);
});

test('a place in the condensed text is found in the body', async (t) => {
  await fc.assert(
    fc.asyncProperty(documents(GOOD), async (text) => {
      const bytes = Buffer.from(`${text.slice(0, -1)},"here€":"€"}`);
      const condensed = await condense(inMemory(bytes));
      const at = condensed.offsetOf(condensed.text.lastIndexOf('"here€"'));
      return bytes.toString('utf8', at) === '"here€":"€"}' && condensed.offsetOf(0) === 0;
    }),
    { numRuns: 100 },
  );
  t.pass();
});

test('bytes that are no UTF-8 are found wherever they stand', async (t) => {
  const bytes = Buffer.from(`{"a":"${'€'.repeat(300_000)}","b":"x"}`);
  t.ok(await condense(inMemory(bytes)));
  for (const at of [6, 7, 262_143, 262_144, 262_145, bytes.length - 12]) {
    const broken = Buffer.from(bytes);
    broken[at] = 0xff;
    t.notOk(isUtf8(broken));
    await t.rejects(condense(inMemory(broken)), { code: 'invalid_json' });
  }
});

test('tokens are counted of text for which stand-ins stand', async (t) => {
  const body = JSON.stringify({ a: 'word '.repeat(100_000), b: 'short' });
  const { text, longTexts } = await condense(inMemory(Buffer.from(body)), true);
  const value = JSON.parse(text) as { a: string; b: string };
  const counted = await longTexts.counting(async (some) => some.split(' ').length - 1)(
    `${value.b} ${value.a} ${JSON.stringify([value.a])}`,
  );
  t.ok(Math.abs(counted - 200_002) < 500, `${counted} words`);
});

test('a client cannot write a stand-in', async (t) => {
  const one = await condense(inMemory(Buffer.from(JSON.stringify(['x'.repeat(5_000)]))));
  const [standIn] = JSON.parse(one.text) as [string];
  t.ok(one.longTexts.get(standIn));
  const two = await condense(inMemory(Buffer.from(JSON.stringify([standIn, 'y'.repeat(5_000)]))));
  t.equal(two.longTexts.get(standIn), undefined);
});
