import t from 'tap';
import type { CreatedKeyView, KeyListView, KeyView } from '../../src/api/keys/key-view.ts';
import { until } from '../helper/check/until.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import { memberOf } from '../helper/clients/people.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);

async function listed(api: Api, query = '', path = '/api/keys/'): Promise<KeyListView> {
  return (await api.get<KeyListView>(`${path}${query}`)).body;
}

const names = ({ keys }: KeyListView) => keys.map(({ name }) => name);

async function made(api: Api, name: string, body: object = {}): Promise<CreatedKeyView> {
  return (await api.post<CreatedKeyView>('/api/keys/', { name, can_manage: false, ...body })).body;
}

/** An account with a key of each status; the managing key is named `test`. */
async function withStatuses() {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  await made(api, 'off', { is_active: false });
  await made(api, 'expired', { expires_at: '2026-01-01T00:00:00Z' });
  const spent = await made(api, 'spent', { spending_limit: 1 });
  const refused = await made(api, 'refused', { allowed_models: ['none'] });
  await made(api, 'fresh');
  await (await world.chat(spent.key)).arrayBuffer();
  for (let call = 0; call < 5; call++) t.equal((await world.chat(refused.key)).status, 403);
  await world.settled();
  await until('the refused calls to be recorded', async () => {
    const { body } = await api.get<KeyView>(`/api/keys/${refused.id}/`);
    return body.status === 'all_refused';
  });
  return { ...owner, api, refused };
}

t.test('a key that is refused is not called active', async (t) => {
  const { api, accountId, refused } = await withStatuses();
  const statuses = [
    ['test', 'active'],
    ['off', 'inactive'],
    ['expired', 'expired'],
    ['spent', 'limit_reached'],
    ['refused', 'all_refused'],
    ['fresh', 'active'],
  ];
  for (const list of [
    await listed(api),
    await listed(operator, '', `/api/admin/accounts/${accountId}/keys/`),
  ]) {
    t.same(
      list.keys.map(({ name, status }) => [name, status]),
      statuses,
    );
  }
  await api.patch(`/api/keys/${refused.id}/`, { allowed_models: [] });
  await (await world.chat(refused.key)).arrayBuffer();
  await world.settled();
  t.equal((await api.get<KeyView>(`/api/keys/${refused.id}/`)).body.status, 'active');
});

t.test('a spent limit of the account is reached for each of its keys', async (t) => {
  const { api, accountId } = await withStatuses();
  await operator.patch(`/api/admin/accounts/${accountId}/`, {
    spending_limits: [{ period: 'total', credits: 1 }],
  });
  t.same(names(await listed(api, '?status=limit_reached')), ['test', 'spent', 'refused', 'fresh']);
});

t.test('keys are found by status, in pages', async (t) => {
  const { api } = await withStatuses();
  t.same(names(await listed(api, '?status=active')), ['test', 'fresh']);
  t.same(names(await listed(api, '?status=inactive')), ['off']);
  t.same(names(await listed(api, '?status=expired')), ['expired']);
  t.same(names(await listed(api, '?status=all_refused')), ['refused']);
  const first = await listed(api, '?status=active&limit=1');
  t.same(names(first), ['test']);
  t.match(first.next, /^\d+$/);
  t.same(names(await listed(api, `?status=active&limit=1&after=${first.next}`)), ['fresh']);
  t.equal((await listed(api, `?status=active&limit=1&after=${first.next}`)).next, null);
  t.same(await listed(api, '?status=active&search=nothing&limit=1'), { keys: [], next: null });
  t.same(await listed(api, '?search=nothing'), { keys: [] });
  t.equal((await api.get('/api/keys/?status=refused')).error?.code, 'invalid_field');
});

t.test('keys are found by a part of their name, description or prefix, in any case', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  const { prefix } = await made(api, '100% Web_App');
  await made(api, '1000 others', { description: 'of the Web team' });
  t.same(names(await listed(api, '?search=WEB')), ['100% Web_App', '1000 others']);
  t.same(names(await listed(api, '?search=b_a')), ['100% Web_App']);
  t.same(names(await listed(api, '?search=100%25')), ['100% Web_App'], 'not a pattern');
  t.same(names(await listed(api, `?search=${prefix.slice(-4)}`)), ['100% Web_App']);
  t.same(names(await listed(api, `?search=${prefix}`)), ['100% Web_App'], 'the prefix that is shown');
  t.equal((await api.get(`/api/keys/?search=${key}`)).error?.code, 'invalid_request', 'a whole key');
  t.equal((await api.get('/api/keys/?search=%00')).error?.code, 'invalid_field');
});

t.test('keys name their person, and are found by the person', async (t) => {
  const { key, accountId } = await world.account();
  const api = apiOf(world, key);
  const member = await memberOf(world, accountId, 'member');
  const other = await memberOf(world, accountId, 'member');
  const { id } = await made(member, 'theirs');
  await made(other, 'another');
  const { keys } = await listed(api, `?person_id=${member.id}`);
  t.match(keys, [{ name: 'theirs', person_id: member.id, member: { id: member.id } }]);
  t.match(keys[0]?.member?.name, /^Person \d+$/);
  t.same((await listed(api)).keys[0]?.member, null);
  t.same(names(await listed(member)), ['theirs']);
  t.same(names(await listed(member, `?person_id=${other.id}`)), [], 'not those of others');
  t.equal((await member.get<KeyView>(`/api/keys/${id}/`)).body.name, 'theirs');
});

t.test('one key is read as it is listed, by those who see it', async (t) => {
  const { key, keyId, accountId } = await world.account();
  const { key: foreign } = await world.account();
  const api = apiOf(world, key);
  const app = await made(api, 'app');
  const [first, second] = (await listed(api)).keys;
  t.same((await api.get(`/api/keys/${app.id}/`)).body, second);
  t.same((await operator.get(`/api/admin/accounts/${accountId}/keys/${keyId}/`)).body, first);
  const own = apiOf(world, app.key);
  t.same((await own.get(`/api/keys/${app.id}/`)).body, second);
  t.same(names(await listed(own, '?search=app&status=active&limit=5')), ['app']);
  t.same(names(await listed(own, '?search=test')), []);
  const missing = [404, 'key_not_found', null];
  t.same(refusalOf(await own.get(`/api/keys/${keyId}/`)), missing);
  t.same(refusalOf(await apiOf(world, foreign).get(`/api/keys/${keyId}/`)), missing);
  t.same(refusalOf(await api.get('/api/keys/x/')), missing);
  t.same(refusalOf(await operator.get(`/api/admin/accounts/${accountId}/keys/987654321/`)), missing);
});
