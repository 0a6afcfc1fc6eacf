import { test } from 'tap';
import { MemberScanner } from '../../src/gateway/meter/member-scanner.ts';

/** The document read in parts of that many bytes. */
function scan(text: string, partBytes: number, kept = ['usage'], counted = 'data'): MemberScanner {
  const scanner = new MemberScanner(kept, counted);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += partBytes) scanner.push(bytes.subarray(at, at + partBytes));
  return scanner;
}

test('members are found and elements counted, wherever the parts are cut', async (t) => {
  for (const [text, usage, count] of [
    ['{}', undefined, 0],
    ['{"data":[]}', undefined, 0],
    ['{"data":[ \n ]}', undefined, 0],
    ['{"data":[1]}', undefined, 1],
    ['{"data":[{"a":[1,2,{"b":[]}]},[],"x,y",null, 5 ],"usage":{"a":[1,{"b":2}]}}', { a: [1, { b: 2 }] }, 5],
    ['{"usage":7,"data":["\\"","\\\\","]","}"]}', 7, 4],
    ['{"x":{"data":[1,2],"usage":1},"data":[3]}', undefined, 1],
    ['{"x":"\\"usage\\":1,\\"data\\":[1,2]","y":["data",[1],"usage",2]}', undefined, 0],
    ['{"u\\u0073age":{"é":"日本"},"data":{"a":[1,2]}}', { é: '日本' }, 0],
    ['[{"usage":1,"data":[1,2]}]', undefined, 0],
    [' { "usage" : null , "data" : [ [ ] , { } ] } ', null, 2],
  ] as const) {
    for (const partBytes of [1, 2, 3, 7, 1_000]) {
      const scanner = scan(text, partBytes);
      t.same(scanner.value('usage'), usage, `usage of ${text} by ${partBytes}`);
      t.equal(scanner.count, count, `count of ${text} by ${partBytes}`);
    }
  }
});

test('agrees with JSON.parse on generated documents', async (t) => {
  let seed = 7;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const value = (depth: number): unknown => {
    const kind = next(depth > 3 ? 4 : 6);
    if (kind === 4) return Array.from({ length: next(4) }, () => value(depth + 1));
    if (kind === 5) {
      return Object.fromEntries(
        Array.from({ length: next(4) }, (_, index) => [
          ['data', 'usage', 'x', 'é"'][index],
          value(depth + 1),
        ]),
      );
    }
    return ['"\\,[]{}:', next(100), null, 'data'][kind];
  };
  for (let round = 0; round < 300; round++) {
    const document: Record<string, unknown> = { a: value(0), data: value(0), usage: value(0), z: value(0) };
    const scanner = scan(JSON.stringify(document, null, next(3)), 1 + next(9));
    const expected = Array.isArray(document.data) ? document.data.length : 0;
    if (scanner.count !== expected) t.fail(JSON.stringify(document));
    t.same(scanner.value('usage'), document.usage);
  }
});

test('what is no JSON, or is cut off, gives no values and no error', async (t) => {
  for (const text of [
    '',
    'plain "text',
    '}}}]]',
    '{"usage":{"a":',
    '{"usage":{"a":1}',
    '\\"{"usage',
    '{"usage":x}',
  ]) {
    t.equal(scan(text, 2).value('usage'), undefined, text);
  }
  t.equal(scan('{"data":[{"b64_json":"AAA', 4).count, 1, 'what has begun counts');
});

test('a value that is too long is given up, and megabytes are not kept', async (t) => {
  const scanner = scan(`{"usage":"${'x'.repeat(100_000)}","data":["${'y'.repeat(5_000_000)}",1]}`, 65_536);
  t.equal(scanner.value('usage'), undefined);
  t.equal(scanner.count, 2);
});
