import { test } from 'tap';
import { JsonSieve, type Shape } from '../../src/metering/json/sieve.ts';

const SHAPE: Shape = { usage: 'all', data: [{}] };

/** The document, read in parts of this many bytes. */
function sift(text: string, partBytes: number, shape = SHAPE): JsonSieve {
  const sieve = new JsonSieve(shape);
  const latin1 = Buffer.from(text).toString('latin1');
  for (let at = 0; at < latin1.length; at += partBytes) sieve.push(latin1.slice(at, at + partBytes));
  return sieve;
}

function found(sieve: JsonSieve): { usage?: unknown; count: number } {
  const { usage, data } = (sieve.value ?? {}) as { usage?: unknown; data?: unknown };
  return { usage, count: Array.isArray(data) ? data.length : 0 };
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
      t.same(found(sift(text, partBytes)), { usage, count }, `${text} by ${partBytes}`);
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
    const sieved = found(sift(JSON.stringify(document, null, next(3)), 1 + next(9)));
    const expected = Array.isArray(document.data) ? document.data.length : 0;
    if (sieved.count !== expected) t.fail(JSON.stringify(document));
    t.same(sieved.usage, document.usage);
  }
});

test('invalid or truncated JSON gives no values and no error', async (t) => {
  for (const text of ['', 'plain "text', '}}}]]', '{"usage":{"a":', '\\"{"usage', '{"usage":x}']) {
    t.equal(found(sift(text, 2)).usage, undefined, text);
  }
  t.same(found(sift('{"usage":{"a":1}', 4)).usage, { a: 1 }, 'what has come counts');
  t.equal(found(sift('{"data":[{"b64_json":"AAA', 4)).count, 1, 'what has begun counts');
});

test('a value that is too long is given up, and megabytes are not kept', async (t) => {
  const sieve = sift(`{"usage":"${'x'.repeat(100_000)}","data":["${'y'.repeat(5_000_000)}",1]}`, 65_536);
  t.same(found(sieve), { usage: undefined, count: 2 });
  t.ok(sieve.text.length < 1_000);
});

test('members deeper down are kept, those of each element too, and nothing else', async (t) => {
  const document = {
    type: 'response.completed',
    response: {
      id: 'resp_1',
      instructions: ' '.repeat(1_000),
      output: [
        { type: 'message', id: 'msg_1', content: [{ text: 'x', id: 'no', logprobs: [{ bytes: [1, 2] }] }] },
        { id: 'msg_2', container_id: null },
        'text',
      ],
      usage: { input_tokens: 1 },
    },
    response_id: 'no',
  };
  const shape: Shape = {
    type: 'all',
    response: { id: 'all', usage: 'all', output: [{ id: 'all', container_id: 'all' }] },
  };
  for (const partBytes of [1, 2, 3, 5, 8, 10_000]) {
    t.same(sift(JSON.stringify(document, null, partBytes % 3), partBytes, shape).value, {
      type: 'response.completed',
      response: {
        id: 'resp_1',
        output: [{ id: 'msg_1' }, { id: 'msg_2', container_id: null }, null],
        usage: { input_tokens: 1 },
      },
    });
  }
});

test('an endless array takes bounded memory, and the fields after it are kept', async (t) => {
  const item = '{"id":"msg_0123456789012345678901234567890123456789"},';
  const text = `{"output":[${item.repeat(100_000)}{}],"usage":{"input_tokens":1}}`;
  const sieve = sift(text, 65_536, { output: [{ id: 'all' }], usage: 'all' });
  t.ok(sieve.text.length < 1_200_000);
  t.match(sieve.value, { usage: { input_tokens: 1 } });
});
