import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { call, callAgent } from '../helper/clients/ended-calls.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { expireHolds } from '../helper/start/expire-holds.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/** Answers that arrive together; their ends take several turns of the event loop. */
const CALLS = 300;

test('of answers that waited for their turn when their gateway was killed, each is charged once or its hold expires', async (t) => {
  const gate = Promise.withResolvers<void>();
  const behave = () => ({ waitAfter: { pieces: 'nothing', until: gate.promise } }) as const;
  const [redis, databaseUrl, provider] = await Promise.all([
    startRedis(t),
    createDatabase(),
    startScriptedProvider({ behave }),
  ]);
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url, { REDIS_URL: redis.url, DATABASE_URL: databaseUrl });
  const killed = await startGatewayProcess(t, place);
  const owner = await makeOwner(killed, CALLS);
  const agent = callAgent(CALLS);
  t.teardown(() => agent.destroy());
  let isKilled = false;
  const onEnd = () => {
    if (!isKilled) process.kill(killed.pid, 'SIGKILL');
    isKilled = true;
  };
  const calls = Array.from({ length: CALLS }, () => call(killed.url, owner.key, {}, { agent, onEnd }));
  await provider.request(CALLS - 1);
  gate.resolve();
  const ended = (await Promise.all(calls)).filter(({ isWhole }) => isWhole);
  await killed.ended;
  t.ok(ended.length > 0, `${ended.length} of ${CALLS} answers ended`);

  const gateway = await startGatewayProcess(t, place);
  await expireHolds(t, { databaseUrl, dataDir: place.dataDir }, redis.url);
  let entries = await ledgerOf(gateway, owner);
  await until('a row of each call', async () => {
    entries = await ledgerOf(gateway, owner);
    return entries.length > CALLS;
  });
  t.equal(new Set(entries.map(({ id }) => id)).size, CALLS + 1, 'one row each, and the top-up');
  const charged = entries.filter(({ type, credits }) => type === 'charge' && credits === '-1.000000');
  const expired = entries.filter(({ type, credits }) => type === 'expired_hold' && credits === '0.000000');
  // On most machines some 240 of them still wait.
  t.equal(charged.length + expired.length, CALLS, `${expired.length} answers still waited`);
  const paid = new Set(charged.map(({ id }) => id));
  t.same(
    ended.filter(({ id = '' }) => !paid.has(id)),
    [],
    'no ended answer is without its charge',
  );
  t.same(await balanceOf(gateway, owner), { balance: CALLS - charged.length, held: 0 });
  t.equal(sumOf(entries), (CALLS - charged.length) * 1_000_000);
});
