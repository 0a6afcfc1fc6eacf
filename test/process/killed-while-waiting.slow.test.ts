import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { call, callAgent, type EndedCall } from '../helper/clients/ended-calls.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { worstJson } from '../helper/fixtures/worst-json.ts';
import { startScriptedProvider, startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { expireHolds } from '../helper/start/expire-holds.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/**
 * Calls at once: their answers, which arrive together, end in several turns of the event loop, and their bodies are read
 * one after the other, each in steps of some milliseconds.
 */
const CALLS = 300;
const BODY_BYTES = 100_000;

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

test('calls whose bodies waited when their gateway was killed leave nothing behind', async (t) => {
  const provider = await startScriptedProvider({ behave: () => ({ stallAfter: 'nothing' }) });
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const killed = await startGatewayProcess(t, place);
  const owner = await makeOwner(killed, 1_000);
  const body = worstJson('empty objects', BODY_BYTES, 'x', '"model":"flat","messages":[],');
  const calls = Array.from({ length: CALLS }, () =>
    fetch(`${killed.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}` },
      body,
    }).catch(() => 'broken'),
  );
  await provider.request(2);
  await killed.kill();
  t.same(new Set(await Promise.all(calls)), new Set(['broken']));
  const gateway = await startGatewayProcess(t, place);
  const { balance, held } = await balanceOf(gateway, owner);
  t.equal(balance, 1_000);
  t.ok(held < CALLS, `${held} of ${CALLS} hold a credit`);
  // Some may have been admitted and not sent, and the provider may still have to read what was sent.
  await until('no other call to hold a credit', () => held <= provider.requests.length + 8);
  t.same(
    (await ledgerOf(gateway, owner)).map(({ type }) => type),
    ['top_up'],
  );
  const uploads = join(place.dataDir, 'uploads');
  t.same(existsSync(uploads) ? readdirSync(uploads) : [], []);
});

/**
 * Redis reads no more from a connection that waits for replicas, and drops what arrived meanwhile if the connection
 * ends.
 */
test('a call that ends while others wait for a replica is charged, though the gateway is killed then', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const redis = await startRedis(t);
  const replica = await startRedis(t, { replicaof: `127.0.0.1 ${redis.port}` });
  const place = makePlace(t, provider.url, {
    REDIS_URL: redis.url,
    REDIS_WAIT_REPLICAS: '1',
    REDIS_TIMEOUT_MS: '',
    DATABASE_URL: await createDatabase(),
  });
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 1_000);
  const raw = await redis.connect();
  await until('the replica to follow', async () =>
    (await (await replica.connect()).info('replication')).includes('master_link_status:up'),
  );
  const agent = callAgent(32);
  // A busy machine may refuse a call (503) because the replica is late.
  let first: Promise<EndedCall>;
  let hasCome = false;
  do {
    const come = provider.request(provider.requests.length).then(() => true);
    const onEnd = (status: number | undefined) => {
      if (status === 200) process.kill(gateway.pid, 'SIGKILL');
    };
    first = call(gateway.url, owner.key, { user: 'wait' }, { agent, onEnd });
    hasCome = await Promise.race([come, first.then(() => false)]);
  } while (!hasCome);

  replica.freeze();
  let isOver = false;
  const others = Array.from({ length: 4 }, async () => {
    while (!isOver && (await call(gateway.url, owner.key, {}, { agent })).status !== undefined);
  });
  await until('a connection to wait for the replica', async () =>
    /^blocked_clients:[1-9]/m.test(await raw.info('clients')),
  );
  letGo();
  const { id, isWhole } = await first;
  t.ok(isWhole);
  isOver = true;
  await Promise.all([gateway.ended, ...others]);
  replica.thaw();
  agent.destroy();

  const again = await startGatewayProcess(t, place);
  const charged = await until('the call to be in the ledger', async () =>
    (await ledgerOf(again, owner)).find((entry) => entry.id === id),
  );
  t.match(charged, { type: 'charge', credits: '-1.000000' });
});
