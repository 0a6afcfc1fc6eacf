import t from 'tap';
import type { CreatedKeyView, KeyView, OwnKeyView } from '../../src/api/keys/key-view.ts';
import { timestamp } from '../../src/domain/period.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import {
  ADMIN_TOKEN,
  lastCharge,
  startGatewayInProcess,
  type TestAccount,
} from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);

interface List {
  readonly keys: readonly KeyView[];
}

/** `last_used_at` of the account's first key wherever a key is shown. */
async function shown({ key, keyId, accountId }: TestAccount) {
  const api = apiOf(world, key);
  const ofAccount = `/api/admin/accounts/${accountId}/keys/`;
  const lists = [
    await api.get<List>('/api/keys/'),
    await api.get<List>('/api/keys/?limit=1'),
    await operator.get<List>(ofAccount),
  ];
  const keys = [
    await api.get<OwnKeyView>('/api/key/'),
    await api.patch<KeyView>(`/api/keys/${keyId}/`, { name: 'shown' }),
    await operator.patch<KeyView>(`${ofAccount}${keyId}/`, { name: 'shown' }),
  ];
  return [...lists.map(({ body }) => body.keys[0]), ...keys.map(({ body }) => body)].map(
    (view) => view?.last_used_at,
  );
}

t.test('a key shows when its latest call was charged, wherever it is shown', async (t) => {
  const owner = await world.account();
  t.same(await shown(owner), Array(6).fill(null));
  for (let call = 0; call < 2; call++) {
    await (await world.chat(owner.key)).text();
    const { createdAt } = await lastCharge(world, owner.accountId);
    t.same(await shown(owner), Array(6).fill(timestamp(createdAt)));
  }
});

t.test('last_used_at shows a call soon', async (t) => {
  const owner = await world.account();
  t.equal((await world.chat(owner.key)).status, 200);
  await until('the call to be shown', async () => {
    const { body } = await apiOf(world, owner.key).get<OwnKeyView>('/api/key/');
    return body.last_used_at !== null;
  });
  t.pass();
});

t.test('neither top-ups, refusals, looking, nor calls of other keys are use of a key', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const other = await api.post<CreatedKeyView>('/api/keys/', { name: 'other' });
  t.equal((await world.chat(owner.key, { model: 'no-such-model' })).status, 404);
  t.equal((await world.api('GET', '/v1/models', owner.key)).status, 200);
  await operator.post(`/api/admin/accounts/${owner.accountId}/credits/`, { amount: 5 });
  await (await world.chat(other.body.key)).text();
  const { keyId, createdAt } = await lastCharge(world, owner.accountId);
  t.equal(keyId, other.body.id);
  const { body } = await api.get<List>('/api/keys/');
  t.same(
    body.keys.map(({ id, last_used_at }) => [id, last_used_at]),
    [
      [owner.keyId, null],
      [other.body.id, timestamp(createdAt)],
    ],
  );
});

t.test('a key that cannot manage sees when it was used itself', async (t) => {
  const owner = await world.account({ key: { canManage: false } });
  await (await world.chat(owner.key)).text();
  const { createdAt } = await lastCharge(world, owner.accountId);
  const api = apiOf(world, owner.key);
  t.match((await api.get<List>('/api/keys/')).body.keys, [{ last_used_at: timestamp(createdAt) }]);
  t.equal((await api.get<OwnKeyView>('/api/key/')).body.last_used_at, timestamp(createdAt));
});
