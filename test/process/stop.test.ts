import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { journalRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { serversOn } from '../../src/redis-server/leftover.ts';
import { socketPathFor } from '../../src/redis-server/socket.ts';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startScriptedProvider, startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, type Place, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const isGone = ({ dataDir }: Place) =>
  until('the private Redis to be gone', async () => {
    return (await serversOn(socketPathFor(join(dataDir, 'redis')))).length === 0;
  });

test('a stream in flight at SIGTERM is finished and charged, and the private Redis goes with the gateway', async (t) => {
  const provider = await startScriptedProvider({ behave: () => ({ chunks: 40, intervalMs: 25 }) });
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 10);
  const response = await gateway.chat(owner.key, { stream: true });
  const ended = gateway.stop();
  const text = await response.text();
  t.ok(text.endsWith('data: [DONE]\n\n'), 'the stream came whole');
  const endedAt = performance.now();
  t.match(await ended, { code: 0, signal: null, errors: '' });
  t.ok(performance.now() - endedAt < 60_000, 'the connection that the client keeps is not waited for');
  await isGone(place);
  t.notOk(existsSync(socketPathFor(join(place.dataDir, 'redis'))), 'no socket is left');

  const again = await startGatewayProcess(t, place);
  t.same(await balanceOf(again, owner), { balance: 9, held: 0 });
  t.match(await ledgerOf(again, owner), [{ type: 'charge', outcome: 'complete' }, { type: 'top_up' }]);
});

test('after a stop nothing is left in the journal', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const redis = await startRedis(t);
  const place = makePlace(t, provider.url, { REDIS_URL: redis.url });
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 100);
  const calls = Array.from({ length: 30 }, () =>
    gateway.chat(owner.key, { messages: [{ role: 'user', content: 'wait' }] }),
  );
  await provider.request(29);
  const ended = gateway.stop();
  letGo();
  const statuses = await Promise.all(calls.map(async (call) => (await call).status));
  t.same(new Set(statuses), new Set([200]));
  const { code, output } = await ended;
  t.equal(code, 0);
  t.match(output, /"stopping: 30 calls in flight"/);
  t.match(
    output.trim().split('\n').at(-1),
    /"journal":"empty","msg":"stopped after 30 calls in flight, journal empty"/,
  );
  const raw = await redis.connect();
  const lengths = await Promise.all(
    Array.from({ length: 64 }, (_, bucket) => raw.xlen(journalRedisKey(bucket))),
  );
  t.equal(Math.max(...lengths), 0);
});
