import { test } from 'tap';
import { WrittenText } from '../../src/gateway/meter/written-text.ts';

const NAMES = ['content', 'name', 'arguments', ['reasoning_content', 'reasoning']] as const;

const EVENTS: readonly [what: string, event: string, written: string, pieces: number][] = [
  ['one piece', '{"delta":{"content":"Hi"}}', 'Hi', 1],
  ['a piece after spaces', '{ "delta" : { "content" : \t"Hi" } }', 'Hi', 1],
  ['escapes', String.raw`{"delta":{"content":"a\"b\\\" \u00e9"}}`, String.raw`a"b\" é`, 1],
  ['two pieces', '{"delta":{"content":"a","tool_calls":[{"name":"f","arguments":"{}"}]}}', 'af{}', 3],
  ['one name twice', '{"delta":{"tool_calls":[{"arguments":"x"},{"arguments":"y"}]}}', 'xy', 2],
  ['the same said by two names', '{"delta":{"reasoning":"r","reasoning_content":"r"}}', 'r', 1],
  ['the second of two names alone', '{"delta":{"reasoning":"r"}}', 'r', 1],
  ['an empty piece', '{"delta":{"content":""}}', '', 0],
  ['no string', '{"delta":{"content":null}}', '', 0],
  ['a name as a value', '{"delta":{"role":"content"}}', '', 0],
  ['a name as a value, then a piece', '{"delta":{"role":"content","content":"x"}}', 'x', 1],
  ['nothing of it', '{"delta":{"role":"assistant"}}', '', 0],
  ['a name before the delta', '{"name":"n","delta":{"content":"x"}}', 'x', 1],
  ['no delta', '{"content":"x"}', 'x', 1],
  ['an end that has not come', '{"delta":{"content":"x', 'x', 1],
];

for (const [what, event, written, pieces] of EVENTS) {
  test(`written: ${what}`, async (t) => {
    const text = new WrittenText(NAMES);
    // Twice: what was found in one event must not be where the next is searched from.
    text.collect(event);
    text.collect(event);
    t.same([text.toString(), text.pieces], [written + written, 2 * pieces]);
  });
}

test('written: answers that come interleaved are told apart', async (t) => {
  const text = new WrittenText(NAMES);
  for (const [lane, piece] of [
    [0, 'to'],
    [1, 'st'],
    [0, 'day'],
    [1, 'op'],
  ] as const) {
    text.collect(JSON.stringify({ delta: { content: piece } }), lane);
  }
  t.equal(text.toString(), 'todaystop');
});
