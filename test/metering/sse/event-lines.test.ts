import { test } from 'tap';
import { FREE_PRICE } from '../../../src/domain/price.ts';
import { ChatStream } from '../../../src/metering/chat-stream.ts';
import type { EventAction, StreamMeter } from '../../../src/metering/meter.ts';
import { ResponsesStream } from '../../../src/metering/responses.ts';
import { eventData } from '../../../src/metering/sse/event.ts';
import { EventReader } from '../../../src/metering/sse/event-reader.ts';
import fc from '../../helper/suite/fast-check.ts';

const LINE_ENDS = ['\n', '\r', '\r\n'] as const;
const FIELDS = ['', 'id: 7', ': a comment', ':', 'retry: 100', 'event: message', 'nonsense', 'data:'];

/** Sends a stream in these parts through a meter. Resolves with its output and its verdicts. */
function read(meter: StreamMeter, stream: string, cuts: readonly number[]): { out: string; passed: string } {
  const reader = new EventReader(meter);
  const bytes = Buffer.from(stream, 'latin1');
  let [out, passed, from] = ['', '', 0];
  const take = (event: string, verdict: EventAction) => {
    out += event;
    if (verdict === 'pass' || verdict === 'end') passed += event;
    else if (verdict !== 'drop') passed += verdict.replacement;
  };
  for (const to of [...new Set([...cuts, bytes.length])].sort((a, b) => a - b)) {
    reader.push(bytes.subarray(from, to));
    from = to;
    for (let event = reader.next(); event !== undefined; event = reader.next()) take(event, reader.verdict);
  }
  take(reader.end(), reader.verdict);
  return { out, passed };
}

/** Records the data of each event. */
class Notes implements StreamMeter {
  readonly data: unknown[] = [];
  readonly usage = undefined;
  readonly kept = {};
  readonly pieces = 0;
  readonly hasAnswer = true;
  event(event: string): EventAction {
    const data = eventData(event);
    if (data) this.data.push(data.n);
    return 'pass';
  }
  readonly outputTokens = 0;
}

const cutsOf = fc.array(fc.nat(600), { maxLength: 12 });
const lineEnd = fc.constantFrom(...LINE_ENDS);
const events = fc.array(
  fc.record({
    before: fc.array(fc.tuple(fc.constantFrom(...FIELDS.slice(1)), lineEnd), { maxLength: 3 }),
    ends: fc.tuple(lineEnd, lineEnd),
    space: fc.boolean(),
  }),
  { maxLength: 6 },
);

test('line ends of any kind, in any mix and cut anywhere, end the same events', async (t) => {
  fc.assert(
    fc.property(fc.boolean(), events, cutsOf, (hasMark, list, cuts) => {
      let stream = hasMark ? '\xef\xbb\xbf' : '';
      list.forEach(({ before, ends, space }, n) => {
        const [first, second] = ends;
        // CR and LF would be one line end.
        const blank = first === '\r' && second === '\n' ? '\r' : second;
        // An LF that ends a comment's line after a CR too.
        stream += before.map(([field, end]) => `${field}${end}`).join('');
        stream += `data:${space ? ' ' : ''}{"n":${n}}${first}${blank}`;
      });
      const notes = new Notes();
      const { out } = read(notes, stream, cuts);
      return out === stream && JSON.stringify(notes.data) === JSON.stringify(list.map((_, n) => n));
    }),
  );
  t.pass('2,000 streams');
});

const LINES = [
  [
    'id: 1',
    'data: {"choices":[{"index":0,"delta":{"content":"Hello there"},"finish_reason":null}],"usage":null}',
  ],
  [': ping', 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}'],
  ['data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}'],
  ['data: [DONE]'],
];

test('a chat stream cut anywhere, with any line ends, has the same usage, words and answer', async (t) => {
  for (const line of LINE_ENDS) {
    for (const blank of LINE_ENDS) {
      // CR and LF are one line end.
      if (line === '\r' && blank === '\n') continue;
      const whole = (lists: readonly (readonly string[])[]) =>
        lists.map((lines) => lines.join(line) + line + blank).join('');
      const stream = whole(LINES);
      const expected = whole(LINES.filter((_, index) => index !== 2)).replaceAll(',"usage":null', '');
      for (let cut = 0; cut < stream.length; cut++) {
        const meter = new ChatStream({ injectedUsage: true, price: FREE_PRICE, isInterleaved: false });
        const { passed } = read(meter, stream, [cut, cut + 1]);
        if (passed !== expected || meter.outputTokens !== 2 || meter.usage?.output !== 4)
          t.fail(`${JSON.stringify([line, blank])} cut at ${cut}: ${JSON.stringify(passed)}`);
      }
    }
  }
  t.pass('every cut');
});

test('a stream with ids or comments before its data is whole without [DONE]', async (t) => {
  for (const before of ['id: 1\n', ': ping\n', 'event: chunk\r\n', '\n', '\xef\xbb\xbf']) {
    const meter = new ChatStream({ injectedUsage: false, price: FREE_PRICE, isInterleaved: false });
    read(meter, `${before}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`, []);
    t.equal(meter.isWhole, true, JSON.stringify(before));
  }
});

test('the last event of a response is read at any size, wherever it is cut', async (t) => {
  const response = {
    id: 'resp_1',
    error: null,
    instructions: ' '.repeat(1_100_000),
    output: [
      { type: 'reasoning', id: 'rs_1', encrypted_content: 'A'.repeat(100_000) },
      { type: 'image_generation_call', id: 'ig_1', result: 'B'.repeat(1_500_000) },
      { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' },
    ],
    usage: { input_tokens: 250_000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 11 },
  };
  for (const type of ['response.completed', 'response.incomplete', 'response.failed']) {
    for (const name of [`event: ${type}\r\n`, '', 'id: 9\n: x\n']) {
      const stream = `${name}data: ${JSON.stringify({ type, sequence_number: 4, response })}\n\r\n`;
      for (const partBytes of [1_000, 65_536, 10_000_000]) {
        const cuts = Array.from(
          { length: Math.ceil(stream.length / partBytes) },
          (_, part) => part * partBytes,
        );
        const meter = new ResponsesStream({ model: { price: FREE_PRICE }, hints: undefined });
        const { out } = read(meter, stream, cuts);
        t.ok(out === stream);
        t.match(meter, {
          usage: { input: 250_000, output: 11 },
          resourceIds: ['resp_1', 'rs_1', 'ig_1', 'ci_1', 'cntr_1'],
          failed: type === 'response.failed',
        });
      }
    }
  }
});
