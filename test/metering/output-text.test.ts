import { test } from 'tap';
import { OutputTextCounter } from '../../src/metering/output-text.ts';
import { tokensIn } from '../../src/metering/text-tokens.ts';

const EVENTS: readonly [what: string, event: string, outputText: string, pieces: number][] = [
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
  ['no delta', '{"content":"x"}', '', 0],
  ['a delta that is a string', '{"type":"a.delta","delta":"x","item_id":"y"}', 'x', 1],
  ['a delta that is a word', '{"delta":null,"content":"x"}', '', 0],
  ['the deltas of two answers', '{"choices":[{"delta":{"content":"a"}},{"delta":{"content":"b"}}]}', 'ab', 2],
  // Custom tools and content in parts; both counted nothing once.
  [
    'what a custom tool is called with',
    '{"delta":{"tool_calls":[{"index":0,"id":"c","type":"custom","custom":{"name":"f","input":"in"}}]}}',
    'fin',
    2,
  ],
  [
    'content given as parts',
    '{"delta":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}',
    'ab',
    2,
  ],
  [
    'thoughts given as parts',
    '{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}',
    'a',
    1,
  ],
  [
    'thoughts in details',
    '{"delta":{"content":"","reasoning":"r","reasoning_details":[{"type":"reasoning.text","text":"r","signature":"s","id":"i"}]}}',
    'r',
    1,
  ],
  [
    'thoughts in details alone',
    '{"delta":{"reasoning":null,"reasoning_details":[{"type":"reasoning.text","text":"r"}]}}',
    'r',
    1,
  ],
  ['thoughts, then content', '{"delta":{"reasoning":"r","reasoning_content":"r","content":"c"}}', 'rc', 2],
  ['a refusal', '{"delta":{"refusal":"no"}}', 'no', 1],
  [
    'the words of sound, and not the sound',
    '{"delta":{"audio":{"id":"a","data":"AAAA","transcript":"hi","expires_at":1}}}',
    'hi',
    1,
  ],
  ['a function', '{"delta":{"function_call":{"name":"f","arguments":"{}"}}}', 'f{}', 2],
  [
    'arguments that are an object',
    '{"delta":{"tool_calls":[{"function":{"arguments":{"id":"x","data":["y"]}}}]}}',
    '{id:x,data:[y]}',
    4,
  ],
  ['a member that nobody knows yet', '{"delta":{"musings":{"said":"x"}}}', 'x', 1],
  [
    'pictures',
    '{"delta":{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}}',
    '',
    0,
  ],
  [
    'where a text comes from',
    '{"delta":{"content":"x","annotations":[{"type":"url_citation","url_citation":{"title":"t","url":"u"}}]}}',
    'x',
    1,
  ],
  [
    'thinking by Anthropic',
    '{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"t"}}',
    't',
    1,
  ],
  [
    'what a tool of Anthropic is called with',
    '{"delta":{"type":"input_json_delta","partial_json":"{\\"a\\""}}',
    '{"a"',
    1,
  ],
  [
    'what Anthropic cites, which it does not bill',
    '{"delta":{"type":"citations_delta","citation":{"cited_text":"c","document_title":"d"}}}',
    '',
    0,
  ],
  ['a signature', '{"delta":{"type":"signature_delta","signature":"s"}}', '', 0],
  ['an end that has not come', '{"delta":{"content":"x', 'x', 1],
];

for (const [what, event, outputText, pieces] of EVENTS) {
  test(`output text: ${what}`, async (t) => {
    const text = new OutputTextCounter();
    // Twice, because the search in an event must not begin where that of the event before ended.
    text.collect(event, '"delta"');
    text.collect(event, '"delta"');
    t.same([text.tokens, text.pieces], [tokensIn(outputText + outputText), 2 * pieces]);
  });
}

test('output text: a delta in parts, cut anywhere, gives the same', async (t) => {
  const delta = JSON.stringify({
    content: 'Grüße, "日本" \\ 😀',
    tool_calls: [{ custom: { name: 'f', input: 'x\n' } }],
  });
  const raw = Buffer.from(delta).toString('latin1');
  for (let cut = 0; cut <= raw.length; cut++) {
    const text = new OutputTextCounter();
    text.begin();
    text.part(raw.slice(0, cut));
    text.part(raw.slice(cut));
    const expected = tokensIn('Grüße, "日本" \\ 😀fx\n');
    if (text.tokens !== expected || text.pieces !== 3) t.fail(`cut at ${cut}: ${text.tokens}`);
  }
  t.pass('every cut');
});
