import { test } from 'tap';
import { FREE_PRICE } from '../../src/domain/price.ts';
import { ChatStream } from '../../src/metering/chat-stream.ts';
import { completions } from '../../src/metering/completions.ts';
import { embeddings } from '../../src/metering/embeddings.ts';
import { messages } from '../../src/metering/messages.ts';
import { MessagesStream } from '../../src/metering/messages-stream.ts';
import type { ParsedRequest } from '../../src/metering/meter.ts';
import { ResponsesStream, responses, responsesResourceIds } from '../../src/metering/responses.ts';
import { tokensIn } from '../../src/metering/text-tokens.ts';

const BODY = { value: {}, scalars: {}, model: { price: FREE_PRICE } } as ParsedRequest;
const usageOf = (usage: unknown) => responses.usage({ usage }, BODY);
const messagesToUsage = (usage: unknown) => messages.usage({ usage }, BODY);
const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const event = (data: { type: string } & Record<string, unknown>) =>
  latin1(`event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`);

test('OpenAI: cached and newly cached tokens are inside the input', (t) => {
  const details = { cached_tokens: 30, cache_write_tokens: 20 };
  t.same(usageOf({ prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: details }), {
    input: 50,
    cachedInput: 30,
    cacheWrite: 20,
    output: 5,
  });
  t.same(
    usageOf({ input_tokens: 10, output_tokens: 5, input_tokens_details: details }),
    { input: 10, cachedInput: 30, cacheWrite: 20, output: 5 },
    'more than the input: they stand beside it',
  );
  t.same(
    usageOf({ input_tokens: 100, output_tokens: 5, input_tokens_details: details }),
    { input: 50, cachedInput: 30, cacheWrite: 20, output: 5 },
    'pictures, speech and transcripts report them as responses do',
  );
  t.end();
});

test('embeddings report input only', (t) => {
  t.same(embeddings.usage({ usage: { prompt_tokens: 8, total_tokens: 8 } }, BODY), {
    input: 8,
    cachedInput: 0,
  });
  t.equal(embeddings.usage({ data: [] }, BODY), undefined);
  t.end();
});

test('zeros stay zeros; absent, negative or absurd numbers are no report', (t) => {
  const zero = { input_tokens: 0, output_tokens: 0 };
  t.match(usageOf(zero), { input: 0, output: 0 });
  t.match(messagesToUsage(zero), { input: 0, output: 0 });
  for (const usage of [
    null,
    undefined,
    {},
    { input_tokens: 5 },
    { input_tokens: -1, output_tokens: 5 },
    { input_tokens: 5, output_tokens: 1e12 },
    { input_tokens: 'five', output_tokens: 5 },
    { input_tokens: 5, output_tokens: 1.5 },
  ]) {
    t.equal(usageOf(usage), undefined, JSON.stringify(usage));
    t.equal(messagesToUsage(usage), undefined, JSON.stringify(usage));
  }
  t.match(messagesToUsage({ input_tokens: 5, output_tokens: 5, cache_read_input_tokens: -3 }), { input: 5 });
  t.end();
});

test('Anthropic: null is absent, and compacting is charged beside the whole', (t) => {
  const compaction = { type: 'compaction', input_tokens: 100, output_tokens: 10, cache_read_input_tokens: 7 };
  const usage = {
    input_tokens: 5,
    cache_read_input_tokens: null,
    cache_creation_input_tokens: 2,
    output_tokens: 3,
    iterations: [compaction, { type: 'message', input_tokens: 5, output_tokens: 3 }],
  };
  t.same(messagesToUsage(usage), { input: 105, cachedInput: 7, cacheWrite: 2, output: 13 });
  t.end();
});

test('usage of whole answers', (t) => {
  const output = [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm. ' }] },
    { type: 'function_call', id: 'fc_1', name: 'f', arguments: '{"a":1}' },
    {
      type: 'message',
      id: 'msg_1',
      content: [
        { type: 'output_text', text: 'Hi' },
        { type: 'refusal', refusal: 'No' },
      ],
    },
  ];
  t.equal(responses.outputTokens({ output }), tokensIn('Hm. f{"a":1}HiNo'));
  const plain = { hints: undefined };
  t.same(responsesResourceIds({ id: 'resp_1', output }, plain), ['resp_1', 'rs_1', 'fc_1', 'msg_1']);
  t.same(responsesResourceIds({ id: 'resp_1', output, store: false }, plain), []);
  const content = [
    { type: 'thinking', thinking: 'Hm. ', signature: 'x' },
    { type: 'text', text: 'Hi' },
    { type: 'tool_use', name: 'f', input: { a: 1 } },
  ];
  t.equal(messages.outputTokens({ content }), tokensIn('Hm. Hif{a:1}'));
  t.equal(completions.outputTokens({ choices: [{ text: 'a, ' }, { text: 'b' }] }), tokensIn('a, b'));
  for (const nothing of [undefined, null, 'x', {}, { output: [null] }, { content: [null] }]) {
    for (const meter of [responses, messages, completions]) t.equal(meter.outputTokens(nothing), 0);
  }
  t.end();
});

test('a responses stream: the text of all its deltas, and no sound', (t) => {
  const stream = new ResponsesStream({ model: { price: FREE_PRICE }, hints: undefined });
  for (const [type, delta] of [
    ['response.reasoning_summary_text.delta', 'Hm. '],
    ['response.output_text.delta', '日本 "x"'],
    ['response.refusal.delta', 'No'],
    ['response.function_call_arguments.delta', '{"a"'],
    ['response.audio.delta', 'AAAA'],
  ] as const) {
    t.equal(stream.event(event({ type, delta, obfuscation: 'zzz' })), 'pass');
  }
  t.equal(stream.event(event({ type: 'response.output_text.done', text: '日本 "x"' })), 'pass');
  t.equal(stream.outputTokens, tokensIn('Hm. 日本 "x"No{"a"'));
  t.equal(stream.usage, undefined);
  t.end();
});

test('a responses stream without event lines is read by its types', (t) => {
  const stream = new ResponsesStream({ model: { price: FREE_PRICE }, hints: undefined });
  const usage = { input_tokens: 1, output_tokens: 2 };
  const data = { type: 'response.incomplete', response: { id: 'resp_1', usage } };
  t.equal(stream.event(latin1(`data: ${JSON.stringify(data)}\n\n`)), 'end');
  t.match(stream.usage, { input: 1, output: 2 });
  t.same(stream.resourceIds, ['resp_1']);
  t.end();
});

test('words of the protocol within an answer are only text', (t) => {
  const text = 'event: message_stop\ndata: {"type":"message_stop"} "text":"x"';
  const stream = new MessagesStream(BODY);
  const delta = { type: 'text_delta', text };
  t.equal(stream.event(event({ type: 'content_block_delta', index: 0, delta })), 'pass');
  t.equal(stream.outputTokens, tokensIn(text));
  t.end();
});

test('a messages stream: its text, and its usage only once it has stopped', (t) => {
  const stream = new MessagesStream(BODY);
  const usage = { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 1 };
  stream.event(event({ type: 'message_start', message: { usage, container: { id: 'container_1' } } }));
  t.equal(stream.usage, undefined);
  t.same(stream.mergeReported({ input: 7, output: 30 }), { input: 10, cachedInput: 4, output: 30 });
  for (const delta of [
    { type: 'thinking_delta', thinking: 'Hm. ' },
    { type: 'signature_delta', signature: 'AAAA' },
    { type: 'text_delta', text: 'Hi ' },
    { type: 'input_json_delta', partial_json: '{"a":' },
  ]) {
    stream.event(event({ type: 'content_block_delta', index: 0, delta }));
  }
  t.equal(stream.outputTokens, tokensIn('Hm. Hi {"a":'));
  stream.event(event({ type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 6 } }));
  t.equal(stream.usage, undefined);
  stream.event(
    event({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use' },
      usage: { output_tokens: 9, input_tokens: 12 },
    }),
  );
  t.same(stream.usage, { input: 12, cachedInput: 4, cacheWrite: 0, output: 9 });
  t.equal(stream.event(event({ type: 'message_stop' })), 'end');
  t.same(stream.resourceIds, ['container_1']);
  t.end();
});

test('a messages stream with an absurd count at its end has only the usage reported before', (t) => {
  const stream = new MessagesStream(BODY);
  stream.event(event({ type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } }));
  stream.event(
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: -9 } }),
  );
  t.equal(stream.usage, undefined);
  t.match(stream.mergeReported({ input: 7, output: 0 }), { input: 10, output: 1 });
  t.end();
});

test('a chat stream has the usage that comes beside its error, unless nothing was used', (t) => {
  for (const [usage, expected] of [
    [
      { prompt_tokens: 9, completion_tokens: 4 },
      { input: 9, cachedInput: 0, output: 4 },
    ],
    [{ prompt_tokens: 0, completion_tokens: 0 }, undefined],
  ] as const) {
    const stream = new ChatStream({ injectedUsage: false, price: FREE_PRICE, isInterleaved: false });
    const error = { message: 'overloaded', code: 502 };
    stream.event(
      latin1(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' } }] })}\n\n`),
    );
    t.equal(stream.event(latin1(`data: ${JSON.stringify({ choices: [], error, usage })}\n\n`)), 'end');
    t.same(stream.usage, expected);
    t.equal(stream.failed, true);
  }
  t.end();
});
