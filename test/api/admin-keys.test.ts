import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const keysOf = (accountId: number) => `/api/admin/accounts/${accountId}/keys/`;

t.test('an operator sees the keys of an account as its owner does, and no value', async (t) => {
  const account = await world.account({ key: { spendingLimit: null, name: 'first' } });
  const { body: made } = await operator.post<CreatedKeyView>(keysOf(account.accountId), { name: 'second' });
  await (await world.chat(account.key)).text();
  await world.settled();
  const listed = await operator.get<{ keys: KeyView[] }>(keysOf(account.accountId));
  t.equal(listed.status, 200);
  t.match(listed.body.keys, [
    { id: account.keyId, name: 'first', spending_current: '1.000000' },
    { id: made.id, name: 'second', spending_current: '0.000000' },
  ]);
  t.same(listed.body, (await apiOf(world, account.key).get('/api/keys/')).body);
  t.notMatch(JSON.stringify(listed.body), made.key);
});

t.test(
  'a key that an operator deletes is refused with the next call, and deleting it again is harmless',
  async (t) => {
    const { accountId, keyId, key } = await world.account();
    t.equal((await world.chat(key)).status, 200);
    const path = `${keysOf(accountId)}${keyId}/`;
    t.same((await operator.delete(path)).body, { deleted: true });
    t.equal((await world.chat(key)).status, 401);
    t.same((await operator.delete(path)).body, { deleted: true });
  },
);

t.test('an operator brings a key back and changes it, by the rule that holds between keys', async (t) => {
  const { accountId, keyId, key } = await world.account();
  const path = `${keysOf(accountId)}${keyId}/`;
  await operator.delete(path);
  t.equal((await world.chat(key)).status, 401);
  const back = await operator.patch<KeyView>(path, { is_active: true, name: 'back' }, { 'if-match': '"2"' });
  t.match(back.body, { id: keyId, is_active: true, name: 'back', can_manage: true, version: 3 });
  t.equal((await world.chat(key)).status, 200);
  const limited = await operator.patch<KeyView>(path, { spending_limit: 5 });
  t.match(limited.body, { spending_limit: 5, can_manage: false, spending_current: '1.000000' });
  const said = await operator.patch<KeyView>(path, { spending_limit: 6, can_manage: true });
  t.match(said.body, { spending_limit: 6, can_manage: true });
  for (const limit of [{ rpm_limit: 60 }, { tpm_limit: 1_000_000 }, { max_parallel_requests: 5 }]) {
    const calls = await operator.patch<KeyView>(path, limit);
    t.match(calls.body, { ...limit, can_manage: false });
    await operator.patch(path, { can_manage: true });
  }
  const stale = await operator.patch(path, { name: 'late' }, { 'if-match': '"2"' });
  t.same(refusalOf(stale), [412, 'version_conflict', 'If-Match']);
  t.same(refusalOf(await operator.patch(path, { color: 1 })), [400, 'invalid_field', 'color']);
});

t.test('a key of another account is not there', async (t) => {
  const [one, other] = [await world.account(), await world.account()];
  const missing = [404, 'key_not_found', null];
  t.same(refusalOf(await operator.delete(`${keysOf(one.accountId)}${other.keyId}/`)), missing);
  t.same(refusalOf(await operator.patch(`${keysOf(one.accountId)}${other.keyId}/`, { name: 'x' })), missing);
  t.same(refusalOf(await operator.delete(`${keysOf(one.accountId)}987654321/`)), missing);
  t.equal((await world.chat(other.key)).status, 200);
});

t.test('an account that is not there has no keys', async (t) => {
  const missing = [404, 'account_not_found', null];
  t.same(refusalOf(await operator.get(keysOf(987654321))), missing);
  t.same(refusalOf(await operator.delete(`${keysOf(987654321)}1/`)), missing);
});

t.test('an owner is no operator', async (t) => {
  const { accountId, keyId, key } = await world.account();
  const owner = apiOf(world, key);
  const refused = [401, 'invalid_admin_token', null];
  t.same(refusalOf(await owner.get(keysOf(accountId))), refused);
  t.same(refusalOf(await owner.patch(`${keysOf(accountId)}${keyId}/`, { name: 'x' })), refused);
  t.same(refusalOf(await owner.delete(`${keysOf(accountId)}${keyId}/`)), refused);
});
