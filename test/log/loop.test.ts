import { EventEmitter, once } from 'node:events';
import { test } from 'tap';
import { Loop } from '../../src/log/loop.ts';
import { timerDelays } from '../helper/check/timer-delays.ts';
import { log } from '../helper/start/ledger.ts';

test('a run that fails is tried again, at intervals that grow no further than the longest', async (t) => {
  const runs = new EventEmitter();
  let count = 0;
  const loop = new Loop(
    'failing',
    5,
    async () => {
      if (++count === 20) runs.emit('twentieth');
      throw new Error('still out of reach');
    },
    log,
    { longestMs: 10 },
  );
  const twentieth = once(runs, 'twentieth');
  const delays = timerDelays(t);
  loop.start();
  // Its timers are unref'ed, so something else must keep this process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  await twentieth;
  await loop.stop();
  t.same([...new Set(delays)], [5, 10], 'in milliseconds');
});

test('runs never overlap, a wake during one makes one more follow, and none comes after a stop', async (t) => {
  let running = 0;
  let most = 0;
  let count = 0;
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const loop = new Loop(
    'counting',
    60_000,
    async () => {
      const mine = count++;
      most = Math.max(most, ++running);
      begun[mine]?.resolve();
      await gates[mine]?.promise;
      running--;
    },
    log,
  );
  loop.start();
  loop.wake();
  await begun[0]?.promise;
  loop.wake();
  loop.wake();
  gates[0]?.resolve();
  await begun[1]?.promise;
  const stopped = loop.stop();
  gates[1]?.resolve();
  await stopped;
  loop.wake();
  t.equal(count, 2);
  t.equal(most, 1);
});
