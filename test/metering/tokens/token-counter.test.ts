import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { registerHooks } from 'node:module';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { type Test, test } from 'tap';
import type { Log } from '../../../src/log/log.ts';
import { TokenCounter } from '../../../src/metering/tokens/token-counter.ts';

const MIB = 1 << 20;

interface Started {
  counter: TokenCounter;
  /** The number of threads that the counter has started; Node reports each one a tick later. */
  threads: Worker[];
  warnings: string[];
}

function startCounter(t: Test): Started {
  const threads: Worker[] = [];
  const warnings: string[] = [];
  const onWorker = (worker: Worker) => threads.push(worker);
  process.on('worker', onWorker);
  const log: Log = { debug() {}, info() {}, warn: (_, message) => warnings.push(message), error() {} };
  const counter = new TokenCounter({ log });
  t.teardown(async () => {
    process.off('worker', onWorker);
    await counter.close();
  });
  return { counter, threads, warnings };
}

/** The output of a script in its own process, with `counter` defined. */
async function runInProcess(script: string): Promise<string> {
  const source = new URL('../../../src/metering/tokens/token-counter.ts', import.meta.url).href;
  const setUp = `import { TokenCounter } from ${JSON.stringify(source)};
    const counter = new TokenCounter({ log: { debug() {}, info() {}, warn() {}, error() {} } });`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', `${setUp}\n${script}`]);
  return (await run).stdout.trim();
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

test('prose is counted exactly however long it is, up to 1 MiB', async (t) => {
  const { counter } = startCounter(t);
  t.equal(await counter.count(' hello'.repeat(100_000)), 100_000);
});

test('a run without a break is cut, which adds at most a token or so a cut', async (t) => {
  const { counter } = startCounter(t);
  const runs: [text: string, tokens: number][] = [
    ['a'.repeat(100_000), 12_500],
    [' '.repeat(100_000), 782],
    ['!'.repeat(100_000), 6_250],
    ['好'.repeat(30_000), 30_000],
    ['👩‍👩‍👧'.repeat(10_000), 80_000],
  ];
  for (const [text, uncut] of runs) {
    const cuts = Math.ceil(text.length / 256);
    const tokens = await counter.count(text);
    t.ok(tokens >= uncut && tokens <= uncut + cuts, `${text.slice(0, 8)}: ${tokens}, uncut ${uncut}`);
  }
});

test('counting 2 MiB of hostile text ends, with the result of a part of it', async (t) => {
  const { counter, warnings } = startCounter(t);
  t.equal(await counter.count('a'.repeat(2 * MIB)), (2 * MIB) / 8);
  t.equal(await counter.count('好'.repeat(2 * MIB)), 2 * MIB);
  const emoji = await counter.count('😀'.repeat(MIB));
  t.ok(emoji >= MIB && emoji <= 1.01 * MIB, `${emoji} tokens in ${MIB} emoji`);
  t.same(warnings, []);
});

test('a text beyond 1 MiB counts by all its parts, not only its beginning', async (t) => {
  const { counter } = startCounter(t);
  const words = ' hello'.repeat(200_000);
  const tokens = await counter.count(words + '好'.repeat(words.length));
  const exact = 200_000 + words.length;
  t.ok(Math.abs(tokens - exact) < exact / 50, `${tokens} for ${exact}`);
});

test('when much is waiting, texts are sampled sooner, and none is refused', async (t) => {
  const { counter, warnings } = startCounter(t);
  const text = ' hello'.repeat(170_000);
  const counts = await Promise.all(Array.from({ length: 12 }, () => counter.count(text)));
  t.equal(counts[0], 170_000);
  for (const tokens of counts) t.ok(Math.abs(tokens - 170_000) < 2_000, `${tokens} tokens`);
  t.same(warnings, []);
  t.equal(await counter.count(text), 170_000, 'the room is given back');
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
  while ((await counter.count('hello world')) !== 2) await sleep(20);
  t.equal(threads.length, 2);
  t.equal(warnings.length, 1);
});

test('a failure after it worked again is said again', async (t) => {
  const { counter, threads, warnings } = startCounter(t);
  // An answer after `terminate` releases the thread, and nothing else here keeps this process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  for (const failures of [1, 2]) {
    while ((await counter.count('hello world')) !== 2) await sleep(20);
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

test('an idle thread keeps no process alive', async (t) => {
  t.equal(await runInProcess(`await counter.count('hello world'); console.log('done')`), 'done');
});

test('a count under way does', async (t) => {
  t.equal(await runInProcess(`counter.count('hello world').then(console.log)`), '2');
});
