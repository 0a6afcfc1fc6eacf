import { test } from 'tap';
import { FREE_PRICE } from '../../src/domain/price.ts';
import { ChatStream } from '../../src/metering/chat-stream.ts';
import { MessagesStream } from '../../src/metering/messages-stream.ts';
import type { RequestFacts } from '../../src/metering/meter.ts';

const DONE = 'data: [DONE]\n\n';
const usage = (completion_tokens: number) => ({ prompt_tokens: 5, completion_tokens });
const chunk = (content: string, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }], ...more })}\n\n`;

function chat(...events: readonly string[]) {
  const stream = new ChatStream({ injectedUsage: false, price: FREE_PRICE, isInterleaved: false });
  for (const event of events) stream.event(event);
  return stream;
}

test('usage in the first chunk, with an output of 0, made all text after it free', (t) => {
  const early = chat(chunk('', { usage: usage(0) }), chunk('Hello'), chunk(' there'), DONE);
  t.equal(early.usage, undefined, 'so that the output is estimated');
  t.match(early.mergeReported({ input: 9, output: 2 }), { input: 5, output: 2 });
  t.match(chat(chunk('', { usage: usage(0) }), DONE).usage, { input: 5, output: 0 }, 'there was no text');
  t.match(
    chat(chunk('Hello'), chunk('', { usage: usage(0) }), DONE).usage,
    { output: 0 },
    'it came after the text',
  );
  t.match(
    chat(chunk('', { usage: usage(7) }), chunk('Hello'), DONE).usage,
    { output: 7 },
    'it has an output',
  );
  t.match(
    chat(chunk('Hello', { usage: usage(1) }), chunk(' there'), DONE).usage,
    { output: 1 },
    'it came with text',
  );
  t.end();
});

test('a message that stopped with an output of 0 before its text was free', (t) => {
  const message = (...order: readonly ('stop' | 'text')[]) => {
    const stream = new MessagesStream({
      scalars: {},
      model: { price: FREE_PRICE },
    } as unknown as RequestFacts);
    const events = {
      start: { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 0 } } },
      stop: { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 0 } },
      text: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    };
    for (const name of ['start', ...order] as const) {
      stream.event(`event: ${events[name].type}\ndata: ${JSON.stringify(events[name])}\n\n`);
    }
    return stream.usage;
  };
  t.equal(message('stop', 'text'), undefined);
  t.match(message('stop'), { input: 5, output: 0 });
  t.match(message('text', 'stop'), { input: 5, output: 0 });
  t.end();
});
