import { test } from 'tap';
import { until } from '../helper/check/until.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startOwnServers } from '../helper/start/own-servers.ts';

test('a response stored while the book was away is its account’s when the book is back', async (t) => {
  const { postgres, provider, env } = await startOwnServers(t);
  const gateway = await startGatewayProcess(t, makePlace(t, provider.url, env));
  const [owner, stranger] = [await makeOwner(gateway, 100), await makeOwner(gateway, 100)];
  await (await gateway.chat(owner.key)).text();
  const post = (key: string, previous_response_id?: string) =>
    gateway.api('POST', '/v1/responses', key, { model: 'flat', input: 'Hi', previous_response_id });
  await postgres.halt();
  const { id } = (await (await post(owner.key)).json()) as { id: string };
  t.equal((await post(owner.key, id)).status, 503);
  await postgres.resume();
  await until('the response to be found', async () => (await post(owner.key, id)).status === 200);
  t.equal((await post(stranger.key, id)).status, 404);
});
