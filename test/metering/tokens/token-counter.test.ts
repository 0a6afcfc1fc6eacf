import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { setImmediate as tick } from 'node:timers/promises';
import { type Test, test } from 'tap';
import { startCounter } from './start-counter.ts';

const MIB = 1 << 20;

const now = performance.now.bind(performance);
let aheadMs = 0;

/** Moves the clock past the pause before the counter starts its thread again. */
function passPause(t: Test): void {
  aheadMs += 60_000;
  performance.now = () => now() + aheadMs;
  t.teardown(() => {
    performance.now = now;
  });
}

test('texts have the tokens that o200k_base gives them', async (t) => {
  const { counter } = startCounter(t);
  t.equal(await counter.count('hello world'), 2);
  t.equal(await counter.count('The quick brown fox jumps over the lazy dog.'), 10);
  t.equal(await counter.count('{"role":"user","content":"12345678"}'), 11);
  t.equal(await counter.count('foo\r\n\n  bar    baz'), 6);
});

test('no text has no tokens, and starts no thread', async (t) => {
  const { counter, threads } = startCounter(t);
  t.equal(await counter.count(''), 0);
  await tick();
  t.equal(threads.length, 0);
});

test('other scripts, emoji and combining marks are counted', async (t) => {
  const { counter } = startCounter(t);
  t.equal(await counter.count('你好，世界 👋🏽 مرحبا'), 9);
  t.equal(await counter.count('👩‍👩‍👧'), 8);
  t.equal(await counter.count('\ufeff'), 1, 'a byte order mark');
});

test('the text of a special token is ordinary text', async (t) => {
  const { counter, warnings } = startCounter(t);
  t.equal(await counter.count('a<|endoftext|>b'), 9);
  t.ok((await counter.count('<|im_start|><|fim_prefix|><|endofprompt|>')) > 10);
  t.same(warnings, []);
});

test('lone surrogates are counted as the replacement characters that they become', async (t) => {
  const { counter, warnings } = startCounter(t);
  t.equal(await counter.count('\ud800abc\udc00'), await counter.count('\ufffdabc\ufffd'));
  t.equal(await counter.count('\udc00'.repeat(600)), await counter.count('\ufffd'.repeat(600)));
  t.same(warnings, []);
});

test('a hundred counts under way get each its own answer', async (t) => {
  const { counter, threads } = startCounter(t);
  const lengths = Array.from({ length: 100 }, (_, index) => index + 1);
  const counts = await Promise.all(lengths.map((length) => counter.count(' hello'.repeat(length))));
  t.same(counts, lengths);
  t.equal(threads.length, 1);
});

test('the ranks are loaded in the thread only, while this one goes on', async (t) => {
  const { counter } = startCounter(t);
  const order: string[] = [];
  const imported: string[] = [];
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      imported.push(specifier);
      return next(specifier, context);
    },
  });
  t.teardown(() => hooks.deregister());
  const counted = counter.count('hello world').then(() => order.push('answer'));
  for (let i = 0; i < 3; i++) {
    await tick();
    order.push('tick');
  }
  await counted;
  t.same(order, ['tick', 'tick', 'tick', 'answer']);
  t.notOk(
    imported.some((specifier) => specifier.includes('gpt-tokenizer')),
    'in this thread',
  );
});

test('without its thread a text has a quarter of its bytes; that is said once, and the thread comes back', async (t) => {
  const { counter, threads, warnings } = startCounter(t);
  const underWay = counter.count('hello world, héllo');
  await tick();
  const ended = threads[0]?.terminate();
  t.equal(await underWay, Math.ceil(19 / 4));
  await ended;
  t.equal(await counter.count('hello world'), 3, 'it is not started again at once');
  t.equal(warnings.length, 1);
  passPause(t);
  t.equal(await counter.count('hello world'), 2);
  t.equal(threads.length, 2);
  t.equal(warnings.length, 1);
});

test('a failure after it worked again is said again', async (t) => {
  const { counter, threads, warnings } = startCounter(t);
  // An answer after `terminate` releases the thread, and nothing else here keeps this process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  for (const failures of [1, 2]) {
    passPause(t);
    t.equal(await counter.count('hello world'), 2);
    const underWay = counter.count('hello world');
    const ended = threads.at(-1)?.terminate();
    t.ok([2, 3].includes(await underWay));
    await ended;
    await tick();
    t.equal(warnings.length, failures);
  }
});

test('close answers the counts under way and later ones from bytes, and ends the thread', async (t) => {
  const { counter, threads, warnings } = startCounter(t);
  const underWay = Promise.all([counter.count('hello world'), counter.count('a'.repeat(MIB))]);
  await tick();
  const ended = Promise.all(threads.map((thread) => once(thread, 'exit')));
  await counter.close();
  t.same(await underWay, [3, MIB / 4]);
  await ended;
  t.equal(await counter.count('hello world'), 3);
  await counter.close();
  t.equal(threads.length, 1);
  t.same(warnings, [], 'which is no failure');
});
