import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { balanceOf, ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

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
