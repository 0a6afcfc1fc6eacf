import { type Test, test } from 'tap';
import { accountRedisKey, bucketOf, holdsRedisKey } from '../../src/ledger/redis/redis-keys.ts';
import { until, untilServed } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { startTcpProxy } from '../helper/start/tcp-proxy.ts';

const WAIT = { messages: [{ role: 'user', content: 'wait' }] };

/** A gateway whose connection to Redis can lose replies, and a second connection that sees the real state of Redis. */
async function startGatewayInProcess(t: Test) {
  const redis = await startRedis(t);
  const proxy = await startTcpProxy(t, redis.port);
  const { provider, letGo } = await startWaitingProvider(t);
  const place = makePlace(t, provider.url, {
    REDIS_URL: `redis://127.0.0.1:${proxy.port}`,
    REDIS_TIMEOUT_MS: '',
  });
  const gateway = await startGatewayProcess(t, place);
  const served = (key: string, body?: typeof WAIT) => untilServed('a call', () => gateway.chat(key, body));
  const owner = await makeOwner(gateway, 100);
  await (await served(owner.key)).text();
  const raw = await redis.connect();
  const live = async () => {
    const [balance, held] = await raw.hmget(accountRedisKey(owner.accountId), 'bal', 'held');
    return { balance: Number(balance) / 1e6, held: Number(held) / 1e6 };
  };
  const holds = () => raw.hlen(holdsRedisKey(bucketOf(owner.accountId)));
  return { proxy, provider, place, gateway, served, owner, live, holds, letGo };
}

test('a settle whose reply is lost charges once', async (t) => {
  const { proxy, provider, place, gateway, served, owner, live, letGo } = await startGatewayInProcess(t);
  const calls = Array.from({ length: 20 }, () => served(owner.key, WAIT));
  await provider.request(20);
  await until('the holds', async () => (await live()).held === 20);
  proxy.loseReplies();
  letGo();
  t.same(new Set((await Promise.all(calls)).map(({ status }) => status)), new Set([200]));
  await until('the settles to be in Redis', async () => (await live()).balance === 79);
  proxy.cut();
  // A stop waits for the answer of every settle, including those that are sent again.
  t.match(await gateway.stop(), { code: 0 });
  t.same(await live(), { balance: 79, held: 0 });

  const again = await startGatewayProcess(t, place);
  const entries = await ledgerOf(again, owner);
  t.equal(entries.length, 22);
  t.equal(sumOf(entries), 79_000_000);
  t.same(await balanceOf(again, owner), { balance: 79, held: 0 });
});

test('an admission whose reply is lost gets 503, is never sent upstream, and soon holds nothing', async (t) => {
  const { proxy, provider, gateway, served, owner, live } = await startGatewayInProcess(t);
  const before = provider.requests.length;
  proxy.loseReplies();
  const calling = gateway.chat(owner.key);
  await until('the admission to be in Redis', async () => (await live()).held === 1);
  const response = await calling;
  t.equal(response.status, 503);
  t.ok(response.headers.get('retry-after'));
  proxy.cut();
  await until('its hold to be released', async () => (await live()).held === 0);
  t.equal(provider.requests.length, before);
  t.equal((await served(owner.key)).status, 200);
  const entries = await until('the ledger', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length >= 3 && found;
  });
  t.equal(entries.length, 3, 'the call that was refused has no entry');
});

test('a connection on which nothing comes back is given up for a new one', async (t) => {
  const { proxy, gateway, owner, live } = await startGatewayInProcess(t);
  proxy.loseReplies();
  t.equal((await gateway.chat(owner.key)).status, 503);
  // Nobody closes it, as in a network that drops packets.
  await until(
    'calls to pass on a new connection',
    async () => (await gateway.chat(owner.key)).status === 200,
  );
  await until('every hold of a lost admission to be released', async () => (await live()).held === 0);
});

test('connections cut in the middle of traffic lose no charge and make none twice', async (t) => {
  const { proxy, gateway, owner, live, holds } = await startGatewayInProcess(t);
  let answered = 1;
  let isOn = true;
  const clients = Array.from({ length: 8 }, async () => {
    while (isOn) {
      const { status } = await gateway.chat(owner.key);
      if (status === 200) answered++;
      else if (status === 402) return;
    }
  });
  const cutter = (async () => {
    for (let cuts = 0; cuts < 6; cuts++) {
      const { balance } = await live();
      await until('traffic', async () => (await live()).balance <= balance - 5 || answered === 100);
      proxy.loseReplies();
      proxy.cut();
    }
    isOn = false;
  })();
  await Promise.all([...clients, cutter]);
  await until('every hold to be settled or released', async () => (await live()).held === 0);
  const entries = await until('the ledger to be whole', async () => {
    const found = await ledgerOf(gateway, owner);
    return sumOf(found) === Math.round((await live()).balance * 1e6) && found;
  });
  t.equal(entries.filter(({ type }) => type === 'charge').length, answered);
  t.same(await live(), { balance: 100 - answered, held: 0 });
  t.ok((await holds()) >= 0);
});
