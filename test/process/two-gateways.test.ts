import { test } from 'tap';
import { apiOf } from '../helper/api.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/owner.ts';
import { startGatewayProcesses } from '../helper/several-gateways.ts';
import { until } from '../helper/until.ts';

test('of 600 concurrent calls at two gateways, exactly as many pass as the balance pays for', async (t) => {
  const { at } = await startGatewayProcesses(t, 2);
  const [a, b] = [at(0), at(1)];
  const owner = await makeOwner(a, 100);
  const statuses = await Promise.all(
    Array.from({ length: 600 }, async (_, index) => {
      const response = await (index % 2 ? a : b).chat(owner.key);
      await response.text();
      return response.status;
    }),
  );
  const count = (status: number) => statuses.filter((other) => other === status).length;
  t.same({ passed: count(200), refused: count(402) }, { passed: 100, refused: 500 });
  const entries = await until('the ledger to be whole', async () => {
    const found = await ledgerOf(a, owner);
    return found.length >= 101 && found;
  });
  t.equal(entries.length, 101, 'refused calls have no entry');
  t.equal(sumOf(entries), 0);
  t.same(await balanceOf(b, owner), { balance: 0, held: 0 });
});

test('a key deleted at one gateway is refused in the very next call at the other, each of 100 times', async (t) => {
  const { at } = await startGatewayProcesses(t, 2);
  const [a, b] = [at(0), at(1)];
  const owner = await makeOwner(a, 1_000);
  const managing = apiOf(a, owner.key);
  const { body: key } = await managing.post<{ id: number; key: string }>('/api/keys/', {
    name: 'handed out',
  });
  const refusals: string[] = [];
  for (let round = 0; round < 100; round++) {
    const before = await b.chat(key.key);
    await before.text();
    if (before.status !== 200) refusals.push(`round ${round}: ${before.status} while active`);
    await managing.delete(`/api/keys/${key.id}/`);
    const after = await b.chat(key.key);
    const { error } = (await after.json()) as { error?: { code: string } };
    refusals.push(`${after.status} ${error?.code}`);
    await managing.patch(`/api/keys/${key.id}/`, { is_active: true });
  }
  t.same(new Set(refusals), new Set(['401 inactive_api_key']));
  t.equal(refusals.length, 100);
});

test('a restriction set at one gateway holds in the very next call at the other', async (t) => {
  const { at } = await startGatewayProcesses(t, 2);
  const [a, b] = [at(0), at(1)];
  const owner = await makeOwner(a, 1_000);
  await (await b.chat(owner.key)).text();
  await apiOf(a, owner.key).patch(`/api/keys/${owner.keyId}/`, { allowed_models: ['tokens'] });
  t.equal((await b.chat(owner.key)).status, 403);
  await apiOf(a, owner.key).patch(`/api/keys/${owner.keyId}/`, { allowed_models: [] });
  t.equal((await b.chat(owner.key)).status, 200);
});
