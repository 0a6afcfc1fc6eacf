import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { ADMIN_TOKEN, makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';
import { startOwnServers } from '../helper/start/own-servers.ts';

const { postgres, provider, env } = await startOwnServers(t);
const gateway = await startGatewayProcess(t, makePlace(t, provider.url, env));

t.test(
  'without the book, model calls go on and management gets 503; nothing is lost after its return',
  async (t) => {
    const owner = await makeOwner(gateway, 100);
    const used = await gateway.chat(owner.key);
    await used.text();

    await postgres.halt();
    const statuses = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const response = await gateway.chat(owner.key);
        await response.text();
        return response.status;
      }),
    );
    t.same(new Set(statuses), new Set([200]), 'model calls go on');
    const managing = apiOf(gateway, owner.key);
    for (const refused of [
      await managing.get('/api/keys/'),
      await managing.post('/api/keys/', { name: 'new' }),
      await managing.patch(`/api/keys/${owner.keyId}/`, { name: 'changed' }),
      await managing.delete(`/api/keys/${owner.keyId}/`),
      await apiOf(gateway, ADMIN_TOKEN).post('/api/admin/accounts/', { email: 'new@example.com' }),
    ]) {
      t.equal(refused.status, 503);
      t.equal(refused.error?.code, 'service_unavailable');
      t.ok(refused.headers.get('retry-after'));
    }
    const ready = await fetch(`${gateway.url}/readyz`);
    t.equal(ready.status, 200, 'or a load balancer would end what goes on');
    t.match(await ready.json(), { status: 'degraded', book: { ok: false } });

    await postgres.resume();
    await until('management to answer again', async () => (await managing.get('/api/keys/')).status === 200);
    const entries = await until('the ledger to catch up', async () => {
      const found = await ledgerOf(gateway, owner);
      return found.length >= 32 && found;
    });
    t.equal(entries.length, 32);
    t.equal(sumOf(entries), 69_000_000);
    t.same(await balanceOf(gateway, owner), { balance: 69, held: 0 });
    const { body } = await managing.get<{ keys: { name: string; is_active: boolean }[] }>('/api/keys/');
    t.match(body.keys, [{ is_active: true }], 'what was answered 503 was not done');
  },
);

t.test('a response stored while the book was away is its account’s when the book is back', async (t) => {
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
