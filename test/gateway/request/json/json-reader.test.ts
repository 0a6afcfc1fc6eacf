import { isUtf8 } from 'node:buffer';
import { test } from 'tap';
import {
  type ReadJson,
  type RootNames,
  readJson,
  readJsonInPieces,
} from '../../../../src/gateway/request/json/json-reader.ts';
import { inMemory } from '../../../../src/metering/byte-source.ts';
import { base64Length } from '../../../../src/metering/content-parts.ts';
import { tokensIn } from '../../../../src/metering/text-tokens.ts';
import fc from '../../../helper/suite/fast-check.ts';

const ANY_NAME: RootNames = { take: () => true };

/** The two ways to read a body, which must agree. */
const WAYS: Readonly<Record<string, (bytes: Buffer) => Promise<ReadJson>>> = {
  'in memory': async (bytes) => readJson(bytes, ANY_NAME),
  'in pieces': (bytes) => readJsonInPieces(inMemory(bytes), ANY_NAME),
};

/** Parts of strings, raw as between the quotes. Some are not allowed there. */
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

/** Strings up to three windows long: a repeated pattern behind some other characters, so that it is cut anywhere. */
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

for (const [way, read] of Object.entries(WAYS)) {
  test(`JSON without its long strings is JSON if and only if the whole is, ${way}`, async (t) => {
    let valid = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(documents([...GOOD, ...BAD]), async (text) => {
        const accepted = await read(Buffer.from(text)).then(
          (reduced) => isJson(reduced.text),
          () => false,
        );
        runs++;
        if (accepted) valid++;
        return accepted === isJson(text);
      }),
    );
    t.ok(valid > 5 && valid < runs - 5, `${valid} of ${runs} were valid`);
  });

  test(`the facts kept of a long string are true, ${way}`, async (t) => {
    let long = 0;
    await fc.assert(
      fc.asyncProperty(documents(GOOD), async (text) => {
        const reduced = await read(Buffer.from(text));
        const { elidedStrings } = reduced;
        const members = Object.values(JSON.parse(text) as object).filter((one) => typeof one === 'string');
        const found = Object.values(reduced.parse()).filter((one) => typeof one === 'string');
        // Names that are elided keep their order, unless two were the same.
        if (members.length !== found.length) return;
        for (const [index, member] of members.entries()) {
          const stand = found[index] as string;
          const known = elidedStrings?.get(stand);
          if (!known) {
            t.equal(stand, member);
            continue;
          }
          long++;
          t.equal(known.characters, [...member].length);
          t.equal(known.units, member.length);
          t.equal(known.bytes, Buffer.byteLength(member));
          t.equal(base64Length(stand, elidedStrings), base64Length(member, undefined));
          t.ok(stand.startsWith(known.head) && member.startsWith(known.head));
        }
      }),
    );
    t.ok(long > 10, `${long} long strings were looked at`);
  });

  test(`a surrogate pair that is cut between its halves is one character of four bytes, ${way}`, async (t) => {
    for (let shift = 0; shift < 12; shift++) {
      const pairs = 50_000;
      const reduced = await read(
        Buffer.from(`{"x":"${'b'.repeat(shift)}${'\\ud83d\\ude00'.repeat(pairs)}"}`),
      );
      const known = reduced.elidedStrings?.get(reduced.parse().x as string);
      t.match(
        known,
        { characters: shift + pairs, units: shift + 2 * pairs, bytes: shift + 4 * pairs },
        `${shift}`,
      );
    }
  });

  test(`a place in the text without long strings is found in the body, ${way}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(documents(GOOD), async (text) => {
        const bytes = Buffer.from(`${text.slice(0, -1)},"here":"€"}`);
        const reduced = await read(bytes);
        const at = reduced.offsetOf(reduced.text.lastIndexOf('"here"'));
        return bytes.toString('utf8', at) === '"here":"€"}' && reduced.offsetOf(0) === 0;
      }),
    );
    t.pass();
  });

  test(`the values of outermost members are found, and nothing within others, ${way}`, async (t) => {
    const long = 'x'.repeat(9_000);
    for (const [text, model] of [
      ['{"model":"a"}', '"a"'],
      [' \n{ "x" : {"model":"no"} , "model" :\t"a\\"b" , "y":[{"model":1},"model"] } ', '"a\\"b"'],
      ['{"messages":["\\\\","\\\\\\"model\\":"],"model":1.50e3,"z":null}', '1.50e3'],
      ['{"mod\\u0065l":"a"}', '"a"'],
      ['{"a":"}","b":"{","c":[[],{}],"model":{"x":[1,"]"]}}', '{"x":[1,"]"]}'],
      ['{"model":true}', 'true'],
      ['{"emoji😀":"😀","model":"é"}', '"é"'],
      [`{"a":"${long}","model" : "b" ,"c":"${long}"}`, '"b"'],
    ] as const) {
      const bytes = Buffer.from(text);
      const reduced = await read(bytes);
      const span = reduced.spanOf('model');
      const found = span && bytes.toString('utf8', reduced.offsetOf(span.start), reduced.offsetOf(span.end));
      t.equal(found, model, text.slice(0, 100));
    }
    t.match(await read(Buffer.from('{}')), { isEmpty: true, openAt: 0 });
    t.match(await read(Buffer.from(' { \n } ')), { isEmpty: true, openAt: 1 });
    t.match(await read(Buffer.from('{"":0}')), { isEmpty: false, openAt: 0 });
  });

  test(`invalid UTF-8 is found at any place, ${way}`, async (t) => {
    const bytes = Buffer.from(`{"a":"${'€'.repeat(300_000)}","b":"x"}`);
    t.ok(await read(bytes));
    for (const at of [6, 7, 262_143, 262_144, 262_145, bytes.length - 12]) {
      const broken = Buffer.from(bytes);
      broken[at] = 0xff;
      t.notOk(isUtf8(broken));
      await t.rejects(read(broken), { code: 'invalid_json' });
    }
  });

  test(`a client cannot write a placeholder, ${way}`, async (t) => {
    const placeholderIn = (value: Record<string, unknown>) => (value.a as [string])[0];
    const one = await read(Buffer.from(JSON.stringify({ a: ['x'.repeat(9_000)] })));
    const placeholder = placeholderIn(one.parse());
    t.ok(one.elidedStrings?.get(placeholder));
    const two = await read(Buffer.from(JSON.stringify({ a: [placeholder, 'y'.repeat(9_000)] })));
    t.equal(placeholderIn(two.parse()), placeholder);
    t.equal(two.elidedStrings?.get(placeholder), undefined);
  });

  test(`text behind placeholders is counted in tokens, ${way}`, async (t) => {
    const long = 'A long text: '.repeat(40_000);
    const reduced = await read(Buffer.from(JSON.stringify({ a: long, b: 'short' })));
    const value = reduced.parse() as { a: string; b: string };
    const counted =
      reduced.elidedStrings?.tokensIn(`${value.b} ${value.a} ${JSON.stringify([value.a])}`) ?? 0;
    const ratio = counted / (2 * tokensIn(long));
    t.ok(ratio > 0.95 && ratio < 1.05, String(ratio));
  });
}

test('a value and its name may arrive in different pieces', async (t) => {
  for (const spaces of [0, 1, 262_100, 262_140, 262_150, 600_000]) {
    const bytes = Buffer.from(
      `{"a":"${'x'.repeat(1_000)}","model"${' '.repeat(spaces)}:${' '.repeat(spaces)}"m"${' '.repeat(spaces)},"b":[1]}`,
    );
    const reduced = await readJsonInPieces(inMemory(bytes), ANY_NAME);
    const span = reduced.spanOf('model');
    t.ok(span);
    if (span)
      t.equal(bytes.toString('utf8', reduced.offsetOf(span.start), reduced.offsetOf(span.end)), '"m"');
  }
});

test('the fault of a body is named with its line and column, and without its content', async (t) => {
  for (const [text, fault] of [
    [
      '{"model": "m" "n": 1}',
      "Expected ',' or '}' after property value in JSON at position 14 (line 1 column 15)",
    ],
    ['{"é😀": "ü",\n "b" 1}', "Expected ':' after property name in JSON at position 18 (line 2 column 6)"],
    ['{"é": "😀", secret}', 'Expected double-quoted property name in JSON at position 12 (line 1 column 13)'],
    ['{"a": [1 2]}', "Expected ',' or ']' after array element in JSON at position 9 (line 1 column 10)"],
    ['{"a": "x', 'Unterminated string in JSON at position 8 (line 1 column 9)'],
    ['{"a": {}', "Expected ',' or '}' after property value in JSON at position 8 (line 1 column 9)"],
    ['{"a": ', 'Unexpected end of JSON input'],
    [
      `{"a": "${'x'.repeat(9_000)}", "b": "${'x'.repeat(9_000)}\n"}`,
      /position 18016 \(line 1 column 18017\)\.$/,
    ],
    ['{"a": secret}', undefined],
    [`{"a": "${'x'.repeat(9_000)}", "b": secret}`, undefined],
    // What V8 quotes of this looks like a position.
    ['{"a": [x in JSON at position 1 (line 1 column 1)', undefined],
  ] as const) {
    const message =
      fault instanceof RegExp ? fault : `The request body is not valid JSON${fault ? `: ${fault}` : ''}.`;
    t.throws(() => readJson(Buffer.from(text), ANY_NAME).parse(), { code: 'invalid_json', message }, text);
  }
});
