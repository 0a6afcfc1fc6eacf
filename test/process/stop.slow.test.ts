import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, type Owner, sumOf } from '../helper/clients/owner.ts';
import { startScriptedProvider, startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  ADMIN_TOKEN,
  type GatewayProcess,
  makePlace,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';

test('new connections are refused while a stop waits for a call', async (t) => {
  const { provider, letGo } = await startWaitingProvider(t);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url));
  const owner = await makeOwner(gateway, 10);
  const waiting = gateway.chat(owner.key, { messages: [{ role: 'user', content: 'wait' }] });
  await provider.request(0);
  const ended = gateway.stop();
  await until('new connections to be refused', () =>
    fetch(`${gateway.url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  letGo();
  t.equal((await waiting).status, 200);
  t.match(await ended, { code: 0 });
});

for (const [how, end] of [
  ['stop', (gateway: GatewayProcess) => gateway.stop()],
  ['kill', (gateway: GatewayProcess) => gateway.kill()],
] as const) {
  test(`balances, keys and ledger are there after a ${how} and a start`, async (t) => {
    const provider = await startScriptedProvider();
    t.teardown(() => provider.close());
    const place = makePlace(t, provider.url);
    const first = await startGatewayProcess(t, place);
    const owner = await makeOwner(first, 100);
    await apiOf(first, owner.key).post('/api/keys/', { name: 'second', spending_limit: 5 });
    for (let calls = 0; calls < 10; calls++) await (await first.chat(owner.key)).text();
    const before = await drained(first, owner);
    await end(first);

    const second = await startGatewayProcess(t, place);
    const after = await drained(second, owner);
    t.same(after.keys, before.keys);
    t.same(after.balance, { balance: 90, held: 0 });
    t.same(after.balance, before.balance);
    t.equal(sumOf(after.entries), 90_000_000);
    t.equal((await second.chat(owner.key)).status, 200);
  });
}

test('a stop waits for a call whose client left, and the call is charged as reported', async (t) => {
  const gone = Promise.withResolvers<void>();
  const provider = await startScriptedProvider({
    behave: () => ({
      usage: { prompt_tokens: 3, completion_tokens: 4 },
      waitAfter: { pieces: 'nothing', until: gone.promise },
    }),
  });
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  const owner = await makeOwner(gateway, 10);
  const abort = new AbortController();
  const call = fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.key}` },
    body: JSON.stringify({ model: 'flat', messages: [{ role: 'user', content: 'Hi' }] }),
    signal: abort.signal,
  });
  await provider.request(0);
  abort.abort();
  await t.rejects(call);
  await until('the call to be read on', async () => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const metrics = await (await fetch(`${gateway.url}/metrics`, { headers })).text();
    return /^tollgate_calls_read_on 1$/m.test(metrics);
  });
  const ended = gateway.stop();
  await until('new connections to be refused', () =>
    fetch(`${gateway.url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  gone.resolve();
  t.match(await ended, { code: 0, signal: null, errors: '' });

  const again = await startGatewayProcess(t, place);
  t.same(await balanceOf(again, owner), { balance: 9, held: 0 });
  t.match(await ledgerOf(again, owner), [
    { type: 'charge', outcome: 'client_left', status: 499, estimated: false },
    { type: 'top_up' },
  ]);
});

/** Everything that an owner sees, once the book has the rows of all calls, which also date the last use of the key. */
async function drained(gateway: GatewayProcess, owner: Owner) {
  const entries = await until('the journal to be drained', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === 11 && found;
  });
  const { body } = await apiOf(gateway, owner.key).get<{ keys: unknown[] }>('/api/keys/');
  return { entries, keys: body.keys, balance: await balanceOf(gateway, owner) };
}
