import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, startOwnGateway, testConfig } from '../helper/start/gateway-in-process.ts';

test('calls that a stop gives up are timeouts, and not clients that left', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-'));
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
  const provider = await startScriptedProvider({
    behave: ({ body }) =>
      body.includes('"stream":true') ? { chunks: 4, stallAfter: 2 } : { stallAfter: 'nothing' },
  });
  t.teardown(() => provider.close());
  const limits = { ...testConfig('', '').limits, readOnMs: 60_000 };
  const first = await startOwnGateway(t, { provider, dataDir, config: { limits }, finishWithinMs: 1 });
  const { key, accountId } = await first.account();
  const whole = first.chat(key, { model: 'tokens' });
  await provider.request(0);
  const stream = await first.chat(key, { model: 'tokens', stream: true });
  const reader = stream.body?.getReader();
  await reader?.read();
  const abort = new AbortController();
  const left = fetch(`${first.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'tokens', messages: [{ role: 'user', content: 'Hello' }] }),
    signal: abort.signal,
  });
  await provider.request(2);
  abort.abort();
  await t.rejects(left);
  await until('the call to be read on', async () => {
    const metrics = await (await first.api('GET', '/metrics', ADMIN_TOKEN)).text();
    return /^tollgate_calls_read_on 1$/m.test(metrics);
  });

  const closing = first.close();
  const answer = await whole;
  t.equal(answer.status, 504);
  t.equal(answer.headers.get('x-should-retry'), 'false');
  t.match(await answer.json(), { error: { code: 'upstream_timeout' } });
  await t.rejects(async () => {
    while (!(await reader?.read())?.done);
  }, 'the stream breaks, and does not end');
  await closing;

  const second = await startOwnGateway(t, { provider, dataDir });
  await second.settled();
  const rows = await second.book.ledger({ accountId, limit: 10 });
  const charges = rows.filter(({ type }) => type === 'charge').reverse();
  const byStatus = charges.map(({ status, outcome, estimated }) => ({ status, outcome, estimated }));
  byStatus.sort((a, b) => (a.status ?? 0) - (b.status ?? 0));
  t.same(byStatus, [
    { status: 200, outcome: 'timeout', estimated: true },
    { status: 499, outcome: 'client_left', estimated: true },
    { status: 504, outcome: 'timeout', estimated: true },
  ]);
  t.ok(charges.every(({ credits }) => credits < 0));
});
