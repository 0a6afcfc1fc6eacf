import { test } from 'tap';
import { FREE_PRICE } from '../../../src/domain/price.ts';
import { ChatStream } from '../../../src/metering/chat-stream.ts';
import { EventReader } from '../../../src/metering/sse/event-reader.ts';
import { keptBytes } from '../../helper/check/kept-bytes.ts';

test('an event without end, a line without end and comments without end take a bounded memory', async (t) => {
  for (const [first, more] of [
    ['data: {"choices":[{"index":0,"delta":{"images":["', 'A'.repeat(65_536)],
    ['data: {"choices":[{"index":0,"delta":{"content":"', 'word '.repeat(13_107)],
    ['data: ', '[[{},{}],["a"]],'.repeat(4_096)],
    ['data: {"usage":', '{"usage":[1,2,"a"],"b":'.repeat(2_849)],
    ['data: ', 'data: x\r\n'.repeat(7_281)],
    [': ', ': comment\n'.repeat(6_553)],
    ['x', 'x'.repeat(65_536)],
  ] as const) {
    const reader = new EventReader(
      new ChatStream({ injectedUsage: true, price: FREE_PRICE, isInterleaved: false }),
    );
    const before = keptBytes();
    let passed = 0;
    reader.push(Buffer.from(first));
    for (let part = 0; part < 500; part++) {
      reader.push(Buffer.from(more, 'latin1'));
      for (let event = reader.next(); event !== undefined; event = reader.next()) passed += event.length;
    }
    const grown = keptBytes() - before;
    // Used once more here, so its memory was still held.
    reader.brokeOff();
    t.ok(passed > 30_000_000 && grown < 10_000_000, `${first}: ${passed} passed, ${grown} kept`);
  }
});
