import { test } from 'tap';
import { until, untilServed } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, ledgerOf, makeOwner, sumOf } from '../helper/clients/owner.ts';
import { startGatewayProcesses } from '../helper/start/own-servers.ts';

test('of 600 concurrent calls at two gateways, exactly as many pass as the balance pays for', async (t) => {
  const { at } = await startGatewayProcesses(t, 2);
  const [a, b] = [at(0), at(1)];
  const owner = await makeOwner(a, 100);
  const send = async (index: number) => {
    const response = await (index % 2 ? a : b).served(owner.key);
    await response.text();
    return response.status;
  };
  const statuses = await Promise.all(Array.from({ length: 600 }, (_, index) => send(index)));
  // What a busy machine made 503 had its credits on hold, for want of which others may have been refused.
  await until('every credit to be spent', async () => {
    const { balance, held } = await balanceOf(b, owner);
    if (balance > 0 && held === 0) statuses.push(await send(0));
    return balance === 0;
  });
  statuses.push(await send(1));
  const count = (status: number) => statuses.filter((other) => other === status).length;
  t.same({ passed: count(200), refused: count(402) }, { passed: 100, refused: statuses.length - 100 });
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
  const { body: key } = await untilServed('a key', () =>
    managing.post<{ id: number; key: string }>('/api/keys/', { name: 'handed out' }),
  );
  const refusals: string[] = [];
  for (let round = 0; round < 100; round++) {
    const before = await b.served(key.key);
    await before.text();
    if (before.status !== 200) refusals.push(`round ${round}: ${before.status} while active`);
    await untilServed('the deletion', () => managing.delete(`/api/keys/${key.id}/`));
    const after = await b.served(key.key);
    const { error } = (await after.json()) as { error?: { code: string } };
    refusals.push(`${after.status} ${error?.code}`);
    await untilServed('the change', () => managing.patch(`/api/keys/${key.id}/`, { is_active: true }));
  }
  t.same(new Set(refusals), new Set(['401 inactive_api_key']));
  t.equal(refusals.length, 100);
});

test('a restriction set at one gateway holds in the very next call at the other', async (t) => {
  const { at } = await startGatewayProcesses(t, 2);
  const [a, b] = [at(0), at(1)];
  const owner = await makeOwner(a, 1_000);
  await (await b.served(owner.key)).text();
  const allow = (allowed_models: string[]) =>
    untilServed('the change', () =>
      apiOf(a, owner.key).patch(`/api/keys/${owner.keyId}/`, { allowed_models }),
    );
  await allow(['tokens']);
  t.equal((await b.served(owner.key)).status, 403);
  await allow([]);
  t.equal((await b.served(owner.key)).status, 200);
});
