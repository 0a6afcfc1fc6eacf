import { AggregatorRegistry, Registry } from 'prom-client';
import { test } from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import { VERSION } from '../../src/config/version.ts';
import { micro } from '../../src/domain/credits.ts';
import { registerGauges } from '../../src/observability/gauges.ts';
import { PrometheusCallMetrics } from '../../src/observability/metrics.ts';
import { until } from '../helper/check/until.ts';
import { startReceiver } from '../helper/stand-ins/receiver.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startGatewayInProcess,
  startOwnGateway,
} from '../helper/start/gateway-in-process.ts';
import { admissionOf, spend, startLedger } from '../helper/start/ledger.ts';

async function scrape(world: InProcessGateway): Promise<Map<string, number>> {
  const response = await world.api('GET', '/metrics', ADMIN_TOKEN);
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

/** Resolves with a function that returns how far a series has moved since: other tests' calls count as well. */
async function countFrom(world: InProcessGateway) {
  const before = await scrape(world);
  return async (series: string) => ((await scrape(world)).get(series) ?? 0) - (before.get(series) ?? 0);
}

/** Waits for something that the gateway does in the background, which no answer announces. */
async function onceCounted(count: (series: string) => Promise<number>, series: string): Promise<number> {
  for (;;) {
    const value = await count(series);
    if (value) return value;
  }
}

const calls = (code: string) => `tollgate_requests_total{endpoint="/v1/chat/completions",code="${code}"}`;

test('an answered call is counted, timed, and its charge added up', async (t) => {
  const world = await startGatewayInProcess(t, {
    behave: () => ({ delayMs: 30, usage: { prompt_tokens: 1_234, completion_tokens: 56 } }),
  });
  const { key } = await world.account();
  const count = await countFrom(world);
  for (const body of [{ model: 'tokens' }, { model: 'tokens', stream: true }]) {
    await (await world.chat(key, { ...body, max_tokens: 100 })).text();
  }
  t.equal(await count(calls('ok')), 2);
  t.equal((await count('tollgate_charged_credits_total')).toFixed(6), '2.692000');
  for (const name of ['upstream', 'time_to_first_byte', 'added']) {
    t.equal(await count(`tollgate_${name}_seconds_count`), 2, name);
  }
  t.equal(await count('tollgate_time_to_first_token_seconds_count'), 1, 'of the stream');
  const sum = (name: string) => count(`tollgate_${name}_seconds_sum`);
  t.ok((await sum('upstream')) >= 0.06, 'the upstream took its 30 ms twice');
  t.ok((await sum('time_to_first_byte')) >= 0.06, 'and nothing came before');
  t.ok((await sum('added')) > 0, 'the gateway took some time of its own');
});

test('a call that a spending limit refuses is counted by the limit that the refusal names', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({
    credits: 100,
    spendingLimits: [{ period: 'total', credits: micro(0) }],
    key: { spendingLimits: [{ period: 'daily', credits: micro(0) }] },
  });
  const count = await countFrom(world);
  t.equal((await world.chat(key)).status, 402);
  const series = (owner: string, limit: string) =>
    `tollgate_limit_refusals_total{owner="${owner}",limit="${limit}"}`;
  t.equal(await count(series('account', 'spending_total')), 1);
  t.equal(await count(series('key', 'spending_daily')), 0);
});

test('a refused call is counted under its error code, and times nothing', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 0 });
  const count = await countFrom(world);
  await world.chat('no-key');
  await world.chat(key);
  await world.chat(key, { model: 'unknown' });
  for (const code of ['invalid_api_key', 'insufficient_credits', 'model_not_found']) {
    t.equal(await count(calls(code)), 1, code);
  }
  t.equal(await count('tollgate_upstream_seconds_count'), 0);
});

test('a failure of the upstream is counted once, under the code that the caller got', async (t) => {
  const answers = [{ status: 429 }, { status: 401 }, { breakAfter: 'nothing' as const }];
  const world = await startGatewayInProcess(t, { behave: () => answers.shift() });
  const { key } = await world.account();
  const count = await countFrom(world);
  for (let call = 0; call < 3; call++) await (await world.chat(key)).text();
  t.equal(await count(calls('upstream_error')), 1, 'passed on');
  t.equal(await count(calls('upstream_auth_failed')), 1, 'refused credential');
  t.equal(await count(calls('upstream_unavailable')), 1, 'broken connection');
});

test('a client that leaves is counted as one that left', async (t) => {
  const world = await startGatewayInProcess(t, { behave: () => ({ stallAfter: 2 }) });
  const { key } = await world.account();
  const count = await countFrom(world);
  const response = await world.chat(key, { stream: true });
  const reader = response.body?.getReader();
  await reader?.read();
  await reader?.cancel();
  t.equal(await onceCounted(count, calls('client_left')), 1);
});

test('labels are bounded: neither a model nor a path of a caller becomes one', async (t) => {
  const world = await startGatewayInProcess(t);
  const { key } = await world.account();
  await world.chat(key, { model: 'a-model-of-the-caller' });
  await world.api('POST', '/v1/path-of-the-caller', key, {});
  const response = await world.api('GET', '/metrics', ADMIN_TOKEN);
  t.notMatch(await response.text(), /of-the-caller/);
});

test('an alert’s delivery is counted by its outcome', async (t) => {
  const receiver = await startReceiver();
  t.teardown(() => receiver.close());
  const world = await startGatewayInProcess(t);
  const { key } = await world.account({ credits: 10, threshold: 10, key: { webhookUrl: receiver.url } });
  const count = await countFrom(world);
  await (await world.chat(key)).text();
  await receiver.next();
  t.equal(await onceCounted(count, 'tollgate_alert_deliveries_total{status="delivered"}'), 1);
});

test('the process and the ledger’s state are shown', async (t) => {
  const world = await startOwnGateway(t);
  const { key } = await world.account();
  await (await world.chat(key)).text();
  await world.settled();
  const metrics = await scrape(world);
  t.ok(metrics.get('process_resident_memory_bytes'), 'default metrics');
  t.equal(metrics.get('tollgate_open_settlements'), 0);
  t.equal(metrics.get('tollgate_journal_backlog'), 0);
  t.equal(metrics.get('tollgate_journal_lag_seconds'), 0);
  t.equal(metrics.get('tollgate_redis_up'), 1);
  t.equal(metrics.get('tollgate_redis_durable'), 1);
  t.equal(metrics.get('tollgate_book_up'), 1);
  t.equal(metrics.get('tollgate_alerts_queued'), 0);
  t.equal(metrics.get(`tollgate_build_info{version="${VERSION}"}`), 1);
});

test('a stream in flight is counted while it lasts, and its hold with its credits', async (t) => {
  const world = await startOwnGateway(t, { behave: () => ({ stallAfter: 2 }) });
  const { key } = await world.account();
  const count = await countFrom(world);
  const response = await world.chat(key, { stream: true });
  const reader = response.body?.getReader();
  await reader?.read();
  await world.ledger.sweep.expireHolds(Date.now());
  const during = await scrape(world);
  t.equal(during.get('tollgate_calls_in_flight'), 1);
  t.equal(during.get('tollgate_open_streams'), 1);
  t.equal(during.get('tollgate_holds'), 1);
  t.equal(during.get('tollgate_held_credits'), 1, 'the model costs 1 credit a call');
  await reader?.cancel();
  await onceCounted(count, calls('client_left'));
  await world.settled();
  await world.ledger.sweep.expireHolds(Date.now());
  const after = await scrape(world);
  for (const name of ['calls_in_flight', 'open_streams', 'holds', 'held_credits']) {
    t.equal(after.get(`tollgate_${name}`), 0, name);
  }
});

test('calls that end in any way leave none in flight', async (t) => {
  const answers = [{ status: 500 }, { breakAfter: 'nothing' as const }, {}];
  const world = await startOwnGateway(t, { behave: () => answers.shift() });
  const { key } = await world.account();
  for (let call = 0; call < 3; call++) await (await world.chat(key, { stream: call === 2 })).text();
  const metrics = await scrape(world);
  t.equal(metrics.get('tollgate_calls_in_flight'), 0);
  t.equal(metrics.get('tollgate_open_streams'), 0);
});

test('a call that was never admitted, such as a read of a video, ends without having been in flight', async (t) => {
  const registry = new Registry();
  new PrometheusCallMetrics(registry).ended('/v1/videos/{id}', 'ok', 1, 1, micro(0));
  const metrics = seriesIn(await registry.metrics());
  t.equal(metrics.get('tollgate_calls_in_flight'), 0);
  t.equal(metrics.get('tollgate_upstream_seconds_count'), 1);
});

test('a large body is counted while its call lasts, with its size', async (t) => {
  let entered = () => {};
  const reached = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const world = await startOwnGateway(t, {
    behave: () => {
      entered();
      return { stallAfter: 0 };
    },
  });
  const { key } = await world.account();
  const count = await countFrom(world);
  const leave = new AbortController();
  const body = { model: 'flat', messages: [{ role: 'user', content: 'x'.repeat(2_000_000) }] };
  const call = fetch(`${world.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
    signal: leave.signal,
  }).catch(() => {});
  await reached;
  const metrics = await scrape(world);
  t.equal(metrics.get('tollgate_spooled_bodies'), 1);
  t.ok((metrics.get('tollgate_spooled_bytes') ?? 0) > 2_000_000);
  leave.abort();
  await call;
  await onceCounted(count, calls('client_left'));
  t.equal((await scrape(world)).get('tollgate_spooled_bodies'), 0);
});

test('entries that the book has not taken show as backlog, with the age of the oldest', async (t) => {
  const world = await startLedger(t);
  const { key } = await world.account({ credits: 10 });
  await world.open.settled();
  world.open.drain.abandon();
  await spend(world.open, admissionOf(key, 1), 1);
  await until('the entry to be in the journal', async () => (await world.open.backlog()).entries === 1);
  const { ageMs } = await world.open.backlog();
  await until('it to grow older', async () => (await world.open.backlog()).ageMs > ageMs);
  t.pass('it did');
});

test('metrics of several processes are merged by the rule of each', async (t) => {
  const { open, book } = await startLedger(t);
  const processes = [3, 5].map((bodies) => {
    const registry = new Registry();
    registerGauges(registry, {
      ledger: open,
      book,
      spools: { kept: { bodies, bytes: 0 } },
      openCalls: { readOn: 1 },
    });
    new PrometheusCallMetrics(registry).refused('/v1/chat/completions', 'invalid_json');
    return registry.getMetricsAsJSON();
  });
  const together = AggregatorRegistry.aggregate(await Promise.all(processes));
  const metrics = seriesIn(await together.metrics());
  t.equal(metrics.get(calls('invalid_json')), 2, 'calls add up');
  t.equal(metrics.get('tollgate_spooled_bodies'), 8, 'and what each keeps');
  t.equal(metrics.get('tollgate_calls_read_on'), 2, 'and the calls that each reads on');
  t.equal(metrics.get('tollgate_redis_up'), 1, 'Redis is one');
  t.equal(metrics.get('tollgate_book_up'), 1);
  t.equal(metrics.get(`tollgate_build_info{version="${VERSION}"}`), 1);
});

test('a Redis and a book that are gone read as down, and take no other metric along', async (t) => {
  const world = await startLedger(t);
  const ledger = await world.second();
  const dataDir = t.testdir();
  const book = await openBook({ databaseUrl: undefined, dataDir });
  const registry = new Registry();
  registerGauges(registry, {
    ledger,
    book,
    spools: { kept: { bodies: 0, bytes: 0 } },
    openCalls: { readOn: 0 },
  });
  ledger.abandon();
  await book.close();
  // A probe of Redis serves everybody who asks within a second.
  const metrics = await until('Redis to read as down', async () => {
    const series = seriesIn(await registry.metrics());
    return series.get('tollgate_redis_up') === 0 && series;
  });
  t.equal(metrics.get('tollgate_book_up'), 0);
  for (const name of ['journal_backlog', 'journal_lag_seconds', 'redis_durable', 'alerts_queued']) {
    t.ok(Number.isNaN(metrics.get(`tollgate_${name}`)), `nobody knows ${name}`);
  }
  t.ok(metrics.has('process_resident_memory_bytes'));
});
