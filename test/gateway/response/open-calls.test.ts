import { test } from 'tap';
import { OpenCalls } from '../../../src/gateway/response/open-calls.ts';

test('a stop waits for the calls that are open', async (t) => {
  const calls = new OpenCalls({ readOnMs: 60_000 });
  await calls.ended();
  const call = { hasLeft: true, timeIsUp: () => t.fail('it has time') };
  const place = calls.began(call);
  t.equal(calls.readOn, 1);
  let isOver = false;
  const ended = calls.ended().then(() => {
    isOver = true;
  });
  await new Promise(setImmediate);
  t.notOk(isOver);
  calls.settled(place);
  await ended;
  t.ok(isOver);
});

test('a stop ends calls at its deadline and stops reading them', async (t) => {
  const calls = new OpenCalls({ readOnMs: 60_000 });
  const over: number[] = [];
  for (const number of [1, 2]) {
    const place = calls.began({
      hasLeft: number === 1,
      timeIsUp() {
        over.push(number);
        setImmediate(() => calls.settled(place));
      },
    });
  }
  const ended = calls.ended();
  t.equal(calls.readOnMs, 60_000);
  calls.giveUp();
  await ended;
  t.same(over, [1, 2]);
  t.equal(calls.readOnMs, 0);
});
