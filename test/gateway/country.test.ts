import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { type Test, test } from 'tap';
import { CountryLookup } from '../../src/gateway/country.ts';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** A lookup, and the threads that it has started so far: Node tells of each, a tick later. */
function startLookup(t: Test): { countries: CountryLookup; threads: Worker[] } {
  const threads: Worker[] = [];
  const onWorker = (worker: Worker) => threads.push(worker);
  process.on('worker', onWorker);
  const countries = new CountryLookup({ log: quiet });
  t.teardown(async () => {
    process.off('worker', onWorker);
    await countries.close();
  });
  return { countries, threads };
}

/** Node in a process of its own, with `CountryLookup` and `countries` at hand; what it prints. */
async function runInProcess(script: string): Promise<string> {
  const source = new URL('../../src/gateway/country.ts', import.meta.url).href;
  const setUp = `import { CountryLookup } from ${JSON.stringify(source)};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const countries = new CountryLookup({ log });`;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', `${setUp}\n${script}`]);
  return (await run).stdout.trim();
}

test('addresses are found in their country, IPv4 and IPv6', async (t) => {
  const { countries } = startLookup(t);
  t.equal(await countries.lookup('8.8.8.8'), 'US');
  t.equal(await countries.lookup('2001:4860:4860::8888'), 'US');
  t.equal(await countries.lookup('193.0.6.139'), 'NL');
});

test('every spelling of an address is the same address', async (t) => {
  const { countries } = startLookup(t);
  t.equal(await countries.lookup('::ffff:8.8.8.8'), 'US');
  t.equal(await countries.lookup('::ffff:808:808'), 'US');
  t.equal(countries.cached('8.8.8.8'), 'US');
  t.equal(await countries.lookup('2001:4860:4860:0:0:0:0:8888'), 'US');
  t.equal(countries.cached('2001:4860:4860::8888%eth0'), 'US');
});

test('an address without a country has none', async (t) => {
  const { countries } = startLookup(t);
  for (const address of ['10.0.0.1', '127.0.0.1', '::1', 'fd00::1', '240.0.0.1']) {
    t.equal(countries.cached(address), undefined, address);
    t.equal(await countries.lookup(address), null, address);
    t.equal(countries.cached(address), null, address);
  }
});

test('what is no address has no country, and asks no thread', async (t) => {
  const { countries, threads } = startLookup(t);
  for (const text of ['', 'localhost', '8.8', '0x8.8.8.8', '8.8.8.8:80']) {
    t.equal(await countries.lookup(text), null, text);
    t.equal(countries.cached(text), null, text);
  }
  t.equal(threads.length, 0);
});

test('no thread is started until one is needed, and then only one', async (t) => {
  const { countries, threads } = startLookup(t);
  t.equal(countries.cached('8.8.8.8'), undefined);
  await tick();
  t.equal(threads.length, 0);
  countries.warmUp();
  countries.warmUp();
  await Promise.all([countries.lookup('8.8.8.8'), countries.lookup('9.9.9.9')]);
  t.equal(threads.length, 1);
});

test('lookups of one address under way share one question', async (t) => {
  const { countries, threads } = startLookup(t);
  countries.warmUp();
  await tick();
  let answers = 0;
  threads[0]?.on('message', () => {
    answers += 1;
  });
  const found = await Promise.all(['8.8.8.8', '8.8.8.8', '::ffff:8.8.8.8'].map((a) => countries.lookup(a)));
  t.same(found, ['US', 'US', 'US']);
  await countries.lookup('193.0.6.139');
  t.equal(answers, 2);
});

test('the data is loaded in the thread only, while this one goes on', async (t) => {
  const { countries } = startLookup(t);
  const order: string[] = [];
  const lookup = countries.lookup('8.8.8.8').then(() => order.push('answer'));
  for (let i = 0; i < 3; i++) {
    await tick();
    order.push('tick');
  }
  await lookup;
  t.same(order, ['tick', 'tick', 'tick', 'answer']);
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  t.notOk(loaded.some((path) => path.includes('geoip-lite')));
});

test('a crash rejects the lookups under way; the next one starts another thread', async (t) => {
  const { countries, threads } = startLookup(t);
  await countries.lookup('8.8.8.8');
  const ended = threads[0]?.terminate();
  await t.rejects(countries.lookup('193.0.6.139'), { message: 'country data unavailable' });
  await ended;
  t.equal(countries.cached('193.0.6.139'), undefined);
  t.equal(await countries.lookup('193.0.6.139'), 'NL');
  t.equal(threads.length, 2);
  t.equal(await countries.lookup('8.8.8.8'), 'US', 'what was known still is');
});

test('while the data cannot be loaded lookups are rejected, and threads are not started one after the other', async (t) => {
  const { countries, threads } = startLookup(t);
  process.env.GEODATADIR = '/nowhere';
  t.teardown(() => {
    delete process.env.GEODATADIR;
  });
  await t.rejects(countries.lookup('8.8.8.8'), { message: 'country data unavailable' });
  await t.rejects(countries.lookup('8.8.8.8'), { message: 'country data unavailable' });
  t.equal(threads.length, 1);
  delete process.env.GEODATADIR;
  let country: string | null = null;
  while (country === null) country = await countries.lookup('8.8.8.8').catch(() => sleep(20, null));
  t.equal(country, 'US');
  t.equal(threads.length, 2);
});

test('close rejects the lookups under way and later ones, and ends the thread', async (t) => {
  const { countries, threads } = startLookup(t);
  const rejected = t.rejects(countries.lookup('8.8.8.8'), { message: 'country data unavailable' });
  await tick();
  const ended = Promise.all(threads.map((thread) => once(thread, 'exit')));
  await countries.close();
  await rejected;
  await ended;
  await t.rejects(countries.lookup('8.8.8.8'), { message: 'country data unavailable' });
  t.equal(threads.length, 1);
});

test('an idle thread keeps no process alive', async (t) => {
  t.equal(await runInProcess(`await countries.lookup('8.8.8.8'); console.log('done')`), 'done');
  t.equal(await runInProcess(`countries.warmUp(); console.log('done')`), 'done');
});

test('a lookup under way does', async (t) => {
  t.equal(await runInProcess(`countries.lookup('8.8.8.8').then(console.log)`), 'US');
});
