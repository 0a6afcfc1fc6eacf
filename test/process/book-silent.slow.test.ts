import { type Test, test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startOwnServers } from '../helper/start/own-servers.ts';
import { startSlowProxy } from '../helper/start/slow-proxy.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

async function startBook(t: Test) {
  const { postgres, provider, env } = await startOwnServers(t);
  const envFor = (port: number) => ({
    ...env,
    DATABASE_URL: env.DATABASE_URL.replace(`:${postgres.port}/`, `:${port}/`),
  });
  return { postgres, provider, envFor };
}

test('with a silent book calls go on until the journal is full, then get 503, and all is caught up', async (t) => {
  const { postgres, provider, envFor } = await startBook(t);
  const proxy = await startSlowProxy(t, postgres.port);
  const more = 'limits: { journalEntries: 200 }\n';
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, envFor(proxy.port), more));
  const owner = await makeOwner(gateway, 100_000);
  const call = async () => {
    const response = await gateway.chat(owner.key);
    await response.text();
    return response;
  };
  await call();
  proxy.block();
  let passed = 1;
  for (let calls = 0; calls < 200; calls++) {
    if ((await call()).status === 200) passed++;
  }
  t.equal(passed, 201, 'calls go on');
  const managing = apiOf(gateway, owner.key);
  const refused = await managing.post('/api/keys/', { name: 'new' });
  t.equal(refused.status, 503);
  const full = await until('the journal to be full', async () => {
    const response = await call();
    if (response.status === 200) passed++;
    return response.status === 503 && response;
  });
  t.equal(full.status, 503);
  t.ok(full.headers.get('retry-after'));
  const sent = provider.requests.length;
  t.equal((await call()).status, 503);
  t.equal(provider.requests.length, sent, 'nothing more is sent upstream');

  proxy.unblock();
  await until('calls to pass again', async () => {
    const { status } = await call();
    if (status === 200) passed++;
    return status === 200;
  });
  const entries = await until('the ledger to catch up', async () => {
    const found = await ledgerOf(gateway, owner).catch(() => []);
    return found.length >= passed + 1 && found;
  });
  t.equal(entries.length, passed + 1);
  t.equal(sumOf(entries), (100_000 - passed) * 1_000_000);
  t.same(await balanceOf(gateway, owner), { balance: 100_000 - passed, held: 0 });
});

test('with a slow book calls are as fast as ever', async (t) => {
  const { postgres, provider, envFor } = await startBook(t);
  const proxy = await startTcpProxy(t, postgres.port);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, envFor(proxy.port)));
  const owner = await makeOwner(gateway, 1_000);
  await (await gateway.chat(owner.key)).text();
  proxy.delay(400);
  const tookMs: number[] = [];
  for (let calls = 0; calls < 50; calls++) {
    const startedAt = performance.now();
    t.equal((await gateway.chat(owner.key)).status, 200);
    tookMs.push(performance.now() - startedAt);
  }
  t.ok(Math.min(...tookMs.slice(-25)) < 400, 'no call waits for the book');
  proxy.delay(0);
  const entries = await until('the ledger to catch up', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === 52 && found;
  });
  t.equal(sumOf(entries), 949_000_000);
});
