import { Registry } from 'prom-client';
import { test } from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import { registerGauges } from '../../src/metrics.ts';
import { startLedgerWorld } from '../helper/ledger-world.ts';
import { startReceiver } from '../helper/receiver.ts';
import { ADMIN_TOKEN, startWorld, type World } from '../helper/world.ts';

async function scrape(world: World): Promise<Map<string, number>> {
  const response = await fetch(`${world.url}/metrics`);
  return seriesIn(await response.text());
}

/** What Prometheus would read: series with their labels → value. */
function seriesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Waits for what the gateway does on its own: nobody is answered when it is done. */
async function onceCounted(world: World, series: string): Promise<number> {
  for (;;) {
    const value = (await scrape(world)).get(series);
    if (value !== undefined) return value;
  }
}

const calls = (code: string) => `tollgate_requests_total{endpoint="/v1/chat/completions",code="${code}"}`;

test('an answered call is counted, timed, and its charge added up', async (t) => {
  const world = await startWorld(t, {
    behave: () => ({ delayMs: 30, usage: { prompt_tokens: 1_234, completion_tokens: 56 } }),
  });
  const { key } = await world.account();
  for (const body of [{ model: 'tokens' }, { model: 'tokens', stream: true }]) {
    await (await world.chat(key, { ...body, max_tokens: 100 })).text();
  }
  const metrics = await scrape(world);
  t.equal(metrics.get(calls('ok')), 2);
  t.equal(metrics.get('tollgate_charged_credits_total'), 2.692);
  for (const name of ['upstream', 'time_to_first_byte', 'added']) {
    t.equal(metrics.get(`tollgate_${name}_seconds_count`), 2, name);
  }
  const sum = (name: string) => metrics.get(`tollgate_${name}_seconds_sum`) ?? 0;
  t.ok(sum('upstream') >= 0.06, 'the upstream took its 30 ms twice');
  t.ok(sum('time_to_first_byte') >= 0.06, 'and nothing came before');
  t.ok(sum('added') > 0, 'the gateway took some time of its own');
});

test('a refused call is counted under its error code, and times nothing', async (t) => {
  const world = await startWorld(t);
  const { key } = await world.account({ credits: 0 });
  await world.chat('no-key');
  await world.chat(key);
  await world.chat(key, { model: 'unknown' });
  const metrics = await scrape(world);
  for (const code of ['invalid_api_key', 'insufficient_credits', 'model_not_found']) {
    t.equal(metrics.get(calls(code)), 1, code);
  }
  t.equal(metrics.get('tollgate_upstream_seconds_count'), 0);
});

test('a failure of the upstream is counted once, under what the caller got', async (t) => {
  const answers = [{ status: 429 }, { status: 401 }, { breakAfter: 'nothing' as const }];
  const world = await startWorld(t, { behave: () => answers.shift() });
  const { key } = await world.account();
  for (let call = 0; call < 3; call++) await (await world.chat(key)).text();
  const metrics = await scrape(world);
  t.equal(metrics.get(calls('upstream_error')), 1, 'passed on');
  t.equal(metrics.get(calls('upstream_auth_failed')), 1, 'refused credential');
  t.equal(metrics.get(calls('upstream_unavailable')), 1, 'broken connection');
});

test('a client that leaves is counted as one that left', async (t) => {
  const world = await startWorld(t, { behave: () => ({ stallAfter: 2 }) });
  const { key } = await world.account();
  const response = await world.chat(key, { stream: true });
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  t.equal(await onceCounted(world, calls('client_left')), 1);
});

test('labels are bounded: neither a model nor a path of a caller becomes one', async (t) => {
  const world = await startWorld(t);
  const { key } = await world.account();
  await world.chat(key, { model: 'a-model-of-the-caller' });
  await world.api('POST', '/v1/path-of-the-caller', key, {});
  const response = await fetch(`${world.url}/metrics`);
  t.notMatch(await response.text(), /of-the-caller/);
});

test('an alert’s delivery is counted by its outcome', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const world = await startWorld(t);
  const { key } = await world.account({ credits: 10, threshold: 10, key: { webhookUrl: receiver.url } });
  await (await world.chat(key)).text();
  await receiver.next();
  t.equal(await onceCounted(world, 'tollgate_alert_deliveries_total{status="delivered"}'), 1);
});

test('the process and the ledger’s state are shown', async (t) => {
  const world = await startWorld(t);
  const { key } = await world.account();
  await (await world.chat(key)).text();
  await world.settled();
  const metrics = await scrape(world);
  t.ok(metrics.get('process_resident_memory_bytes'), 'default metrics');
  t.equal(metrics.get('tollgate_open_settlements'), 0);
  t.equal(metrics.get('tollgate_journal_backlog'), 0);
  t.equal(metrics.get('tollgate_redis_up'), 1);
  t.equal(metrics.get('tollgate_book_up'), 1);
});

test('a Redis and a book that are gone read as down, and take no other metric along', async (t) => {
  const world = await startLedgerWorld(t);
  const ledger = await world.second();
  const dataDir = t.testdir();
  const book = await openBook({ databaseUrl: undefined, dataDir });
  const registry = new Registry();
  registerGauges(registry, { ledger, book });
  ledger.abandon();
  await book.close();
  const metrics = seriesIn(await registry.metrics());
  t.equal(metrics.get('tollgate_redis_up'), 0);
  t.equal(metrics.get('tollgate_book_up'), 0);
  t.ok(Number.isNaN(metrics.get('tollgate_journal_backlog')), 'nobody knows the backlog');
  t.ok(metrics.has('process_resident_memory_bytes'));
});

test('metrics are for the operator: through a proxy only with the admin token', async (t) => {
  const world = await startWorld(t);
  const through = { 'x-forwarded-for': '203.0.113.9' };
  const statusOf = async (token: string) =>
    (await world.api('GET', '/metrics', token, undefined, through)).status;
  t.equal(await statusOf('wrong'), 401);
  t.equal(await statusOf(ADMIN_TOKEN), 200);
});
