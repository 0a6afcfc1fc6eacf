import { test } from 'tap';
import { scanMembers } from '../../../src/gateway/request/json-scan.ts';

const NAMES = new Set(['model', 'stream']);

test('finds the values of outermost members, and nothing within others', (t) => {
  for (const [text, model] of [
    ['{"model":"a"}', '"a"'],
    [' \n{ "x" : {"model":"no"} , "model" :\t"a\\"b" , "y":[{"model":1},"model"] } ', '"a\\"b"'],
    ['{"messages":["\\\\","\\\\\\"model\\":"],"model":1.50e3,"z":null}', '1.50e3'],
    ['{"mod\\u0065l":"a"}', '"a"'],
    ['{"a":"}","b":"{","c":[[],{}],"model":{"x":[1,"]"]}}', '{"x":[1,"]"]}'],
    ['{"model":true}', 'true'],
    ['{"emoji😀":"😀","model":"é"}', '"é"'],
  ] as const) {
    const { spans } = scanMembers(text, NAMES);
    const span = spans.get('model');
    t.equal(span && text.slice(span.start, span.end), model, text);
  }
  t.end();
});

test('a name that stands there twice is reported, however it is spelled', (t) => {
  for (const text of [
    '{"model":1,"model":2}',
    '{"model":1,"x":{},"\\u006dodel":2}',
    '{"Model":1,"model":2}',
    '{"MODEL":1,"mOdel":2}',
  ]) {
    t.equal(scanMembers(text, NAMES).repeated, 'model', text);
  }
  t.equal(scanMembers('{"model":1,"x":{"model":2}}', NAMES).repeated, undefined);
  t.end();
});

test('an empty object, and one with white space only', (t) => {
  t.match(scanMembers('{}', NAMES), { isEmpty: true, openAt: 0 });
  t.match(scanMembers(' { \n } ', NAMES), { isEmpty: true, openAt: 1 });
  t.end();
});

test('agrees with JSON.parse on generated documents', (t) => {
  const values = [
    '"s\\\\"',
    '"\\""',
    '0',
    '-1.5e-7',
    'null',
    '[]',
    '{}',
    '[{"a":"]}"}]',
    '{"model":["x"]}',
    '"\\u0022"',
  ];
  let seed = 1;
  const next = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const space = () => [' ', '', '\n\t', '\r\n'][next(4)];
  for (let round = 0; round < 500; round++) {
    const members = Array.from({ length: next(6) }, (_, index) => [`k${index}`, values[next(values.length)]]);
    members.splice(next(members.length + 1), 0, ['model', values[next(values.length)]]);
    const text = `${space()}{${members.map(([k, v]) => `${space()}"${k}"${space()}:${space()}${v}${space()}`).join(',')}}${space()}`;
    const span = scanMembers(text, NAMES).spans.get('model');
    if (!span) return t.fail(text);
    t.same(JSON.parse(text.slice(span.start, span.end)), JSON.parse(text).model, text);
  }
  t.end();
});
