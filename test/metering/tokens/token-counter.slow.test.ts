import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'tap';
import { startCounter } from './start-counter.ts';

const MIB = 1 << 20;

/** The output of a script in its own process, with `counter` defined. */
async function runInProcess(script: string): Promise<string> {
  const source = new URL('../../../src/metering/tokens/token-counter.ts', import.meta.url).href;
  const setUp = `import { TokenCounter } from ${JSON.stringify(source)};
    const counter = new TokenCounter({ log: { debug() {}, info() {}, warn() {}, error() {} } });`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', `${setUp}\n${script}`]);
  return (await run).stdout.trim();
}

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

test('an idle thread keeps no process alive', async (t) => {
  t.equal(await runInProcess(`await counter.count('hello world'); console.log('done')`), 'done');
});

test('a count under way does', async (t) => {
  t.equal(await runInProcess(`counter.count('hello world').then(console.log)`), '2');
});
