import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { call, callAgent, type EndedCall } from '../helper/clients/ended-calls.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { expireHolds } from '../helper/start/expire-holds.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const CLIENTS = 24;

for (const stream of [false, true]) {
  const kind = stream ? 'a stream' : 'an answer';
  test(`a gateway killed in the instant after ${kind} ended has charged it, once`, async (t) => {
    const provider = await startScriptedProvider();
    t.teardown(() => provider.close());
    const place = makePlace(t, provider.url);
    let gateway = await startGatewayProcess(t, place);
    const owner = await makeOwner(gateway, 1_000_000);
    const ended: EndedCall[] = [];
    for (let round = 1; round <= 2; round++) {
      const { url, pid } = gateway;
      const agent = callAgent(CLIENTS);
      // A different moment in each round: after the first answer, and in the middle of many.
      const killAt = ended.length + 1 + (round - 1) * 84;
      let ends = ended.length;
      const onEnd = (status: number | undefined) => {
        if (status === 200 && ++ends === killAt) process.kill(pid, 'SIGKILL');
      };
      const client = async () => {
        for (;;) {
          const done = await call(url, owner.key, { stream }, { agent, onEnd });
          if (!done.isWhole) return;
          // A busy machine may refuse a call (503), which then costs nothing.
          if (done.status === 200) ended.push(done);
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      agent.destroy();
      await gateway.ended;
      gateway = await startGatewayProcess(t, place);
    }
    t.ok(ended.length >= 85, `${ended.length} answers ended`);
    // Calls whose end the client did not see are charged too, so their number says nothing; the test looks for each.
    const isFree = (charged: readonly { id: string }[]) => {
      const ids = new Set(charged.map(({ id }) => id));
      return ({ id = '' }: EndedCall) => !ids.has(id);
    };
    let entries = await ledgerOf(gateway, owner);
    await until('every journal to be drained', async () => {
      entries = await ledgerOf(gateway, owner);
      return !ended.some(isFree(entries));
    }).catch(() => t.same(ended.filter(isFree(entries)), [], 'in time'));
    const charges = new Map(entries.map((entry) => [entry.id, entry.credits]));
    const free = ended.filter(({ id = '' }) => charges.get(id) !== '-1.000000');
    t.same(free, [], 'no ended answer is without its charge');
    t.equal(charges.size, entries.length, 'none is charged twice');
    t.equal(sumOf(entries), Math.round((await balanceOf(gateway, owner)).balance * 1_000_000));
  });
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
