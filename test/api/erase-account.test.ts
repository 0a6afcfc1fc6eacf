import t from 'tap';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN } from '../helper/clients/requests.ts';
import { startGatewayForCommands } from '../helper/start/command.ts';

const { gateway, operator } = await startGatewayForCommands(t);
const admin = apiOf(gateway, ADMIN_TOKEN);

t.test('the keys of an erased account end, and its balance stays', async (t) => {
  const { accountId, key } = await gateway.account({ credits: 10 });
  t.equal((await gateway.chat(key)).status, 200);
  t.equal((await admin.delete(`/api/admin/accounts/${accountId}/`)).status, 200);
  t.equal((await gateway.chat(key)).status, 401);
  const path = `/api/admin/accounts/${accountId}/`;
  const { body } = await admin.get<{ keys: { id: number; name: string }[] }>(`${path}keys/`);
  const [{ id, name } = { id: 0, name: '' }] = body.keys;
  t.equal(name, 'erased');
  for (const change of [
    () => admin.patch(path, { is_active: true }),
    () => admin.patch(`${path}keys/${id}/`, { is_active: true }),
    () => admin.post(`${path}keys/`, { name: 'again' }),
    // Its idempotency keys are gone, so a repeat would be booked twice.
    () => admin.post(`${path}credits/`, { amount: 5 }),
    () => admin.post(`${path}invitations/`, { email: 'a@example.com', role: 'owner' }),
  ]) {
    t.same(refusalOf(await change()), [404, 'account_not_found', null]);
  }
  t.equal((await gateway.chat(key)).status, 401);
  const account = await admin.get<{ email: string; credits_balance: number }>(
    `/api/admin/accounts/${accountId}/`,
  );
  t.equal(account.body.email, `account-${accountId}@erased.invalid`);
  t.ok(account.body.credits_balance > 0);
  t.same(refusalOf(await admin.delete('/api/admin/accounts/999999/')), [404, 'account_not_found', null]);
});

t.test('tollgate account erase asks for a confirmation', async (t) => {
  const { accountId, key } = await gateway.account({ credits: 10 });
  const unconfirmed = await operator('account', 'erase', String(accountId));
  t.match(unconfirmed, { code: 2, output: '', errors: /can't be undone.+add --yes/ });
  t.equal((await gateway.chat(key)).status, 200);
  t.match(await operator('account', 'erase', String(accountId), '--yes'), { code: 0, output: /is erased/ });
  t.equal((await gateway.chat(key)).status, 401);
});
