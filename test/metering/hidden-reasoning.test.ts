import { test } from 'tap';
import { ChatStream } from '../../src/metering/chat-stream.ts';
import { MessagesStream } from '../../src/metering/messages-stream.ts';
import type { ParsedRequest, StreamMeter } from '../../src/metering/meter.ts';
import { ResponsesStream } from '../../src/metering/responses.ts';
import { testCatalog } from '../helper/start/gateway-in-process.ts';

const model = testCatalog('http://127.0.0.1').get('claude');
const body = { model, value: {} } as unknown as ParsedRequest;
const { price } = body.model;

const event = (data: Record<string, unknown>): string =>
  `${data.type ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
const start = (content_block: object) => event({ type: 'content_block_start', index: 0, content_block });
const delta = (of: object) => event({ type: 'content_block_delta', index: 0, delta: of });

function hiddenIn(meter: StreamMeter, events: readonly string[]): number | undefined {
  for (const one of events) meter.event(one);
  return meter.hiddenTokens;
}

test('omitted thinking counts by the provider’s figure', (t) => {
  const thinking = start({ type: 'thinking', thinking: '', signature: '' });
  const count = (estimated_tokens: number | null) =>
    delta({ type: 'thinking_delta', thinking: '', estimated_tokens });
  const signed = delta({ type: 'signature_delta', signature: 'S'.repeat(400) });
  t.equal(hiddenIn(new MessagesStream(body), [thinking]), 0);
  t.equal(
    hiddenIn(new MessagesStream(body), [thinking, count(64), count(null), count(128)]),
    192,
    'summed up',
  );
  t.equal(hiddenIn(new MessagesStream(body), [thinking, count(64), signed]), 100, 'or by its signature');
  t.equal(hiddenIn(new MessagesStream(body), [thinking, count(640), signed]), 640, 'the larger of both');
  t.equal(
    hiddenIn(new MessagesStream(body), [thinking, count(64), signed, thinking, count(64), signed]),
    200,
    'of all blocks',
  );
  t.end();
});

test('thinking that is shown is output that came, and its signature is nothing more', (t) => {
  const shown = delta({ type: 'thinking_delta', thinking: 'Let me see.' });
  const signed = delta({ type: 'signature_delta', signature: 'S'.repeat(400) });
  t.equal(hiddenIn(new MessagesStream(body), [start({ type: 'thinking', thinking: '' }), shown, signed]), 0);
  t.equal(
    hiddenIn(new MessagesStream(body), [start({ type: 'redacted_thinking', data: 'R'.repeat(41) })]),
    11,
  );
  t.equal(
    hiddenIn(new MessagesStream(body), [
      start({ type: 'text', text: '' }),
      delta({ type: 'text_delta', text: '"estimated_tokens": 5, redacted_thinking, signature_delta' }),
    ]),
    0,
    'words are no counts',
  );
  t.end();
});

test('encrypted reasoning of a response and of a chat counts a token for four bytes', (t) => {
  const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E'.repeat(4_000) };
  const done = event({ type: 'response.output_item.done', output_index: 0, item });
  t.equal(hiddenIn(new ResponsesStream(body), [done, done]), 2_000);
  const details = [
    { type: 'reasoning.encrypted', data: 'E'.repeat(400) },
    { type: 'reasoning.text', text: 'shown' },
  ];
  const chunk = event({ choices: [{ index: 0, delta: { content: '', reasoning_details: details } }] });
  const chat = new ChatStream({ injectedUsage: false, price, isInterleaved: false });
  t.equal(hiddenIn(chat, [chunk]), 100);
  t.equal(hiddenIn(chat, [event({ choices: [{ delta: { content: 'encrypted' } }] })]), 100);
  t.end();
});
