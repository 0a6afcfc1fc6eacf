import { test } from 'tap';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { expireHolds } from '../helper/start/expire-holds.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { chargedThoughKilled } from './killed-gateway.ts';

for (const stream of [false, true]) {
  const kind = stream ? 'a stream' : 'an answer';
  test(`a gateway killed twice in the instant after ${kind} ended has charged it, once`, (t) =>
    chargedThoughKilled(t, { stream, rounds: 2 }));
}

test('holds of calls that were in flight outlive their gateway until they expire, each with an entry', async (t) => {
  const [redis, databaseUrl, provider] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startScriptedProvider({ behave: () => ({ stallAfter: 'nothing' }) }),
  ]);
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url, { REDIS_URL: redis.url, DATABASE_URL: databaseUrl });
  const killed = await startGatewayProcess(t, place);
  const owner = await makeOwner(killed, 50);
  const calls = Array.from({ length: 20 }, () => killed.chat(owner.key).catch(() => 'broken'));
  await provider.request(19);
  await killed.kill();
  t.same(new Set(await Promise.all(calls)), new Set(['broken']));

  const gateway = await startGatewayProcess(t, place);
  t.same(await balanceOf(gateway, owner), { balance: 50, held: 20 });

  await expireHolds(t, { databaseUrl, dataDir: place.dataDir }, redis.url);
  t.same(await balanceOf(gateway, owner), { balance: 50, held: 0 });
  const entries = await ledgerOf(gateway, owner);
  const expired = entries.filter(({ type }) => type === 'expired_hold');
  t.equal(expired.length, 20);
  t.same(new Set(expired.map(({ credits }) => credits)), new Set(['0.000000']));
  t.equal(sumOf(entries), 50_000_000);
});
