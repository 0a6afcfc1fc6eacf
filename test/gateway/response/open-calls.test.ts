import { test } from 'tap';
import { LeftCalls } from '../../../src/gateway/response/left-calls.ts';

test('a stop waits for the calls that are read on', async (t) => {
  const calls = new LeftCalls({ readOnMs: 60_000 });
  const { signal } = new AbortController();
  await calls.ended(signal);
  const call = { giveUp: () => t.fail('it has time') };
  calls.add(call);
  let isOver = false;
  const ended = calls.ended(signal).then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  t.notOk(isOver);
  calls.delete(call);
  await ended;
  t.ok(isOver);
});

test('a stop that has waited long enough cancels reads of left calls, and starts no more', async (t) => {
  const calls = new LeftCalls({ readOnMs: 60_000 });
  const over = new AbortController();
  const givenUp: number[] = [];
  for (const number of [1, 2]) {
    const call = {
      giveUp() {
        givenUp.push(number);
        setImmediate(() => calls.delete(call));
      },
    };
    calls.add(call);
  }
  const ended = calls.ended(over.signal);
  t.equal(calls.readOnMs, 60_000);
  calls.giveUp();
  over.abort();
  await ended;
  t.same(givenUp, [1, 2]);
  t.equal(calls.readOnMs, 0);
});
