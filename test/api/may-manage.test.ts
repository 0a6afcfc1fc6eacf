import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { type ApiError, apiOf, refusalOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

const RESTRICTIONS = {
  allowed_models: ['flat'],
  allowed_categories: ['text'],
  spending_limit: 0,
  rpm_limit: 60,
  tpm_limit: 1,
  max_parallel_requests: 1_000_000,
  active_hours: '00:00-24:00',
  allowed_ips: ['127.0.0.1'],
  allowed_origins: ['example.com'],
  blocked_countries: ['KP'],
  expires_at: '2099-01-01T00:00:00Z',
};
const entries = Object.entries(RESTRICTIONS);

t.test('a key that may not manage sees itself, and changes nothing', async (t) => {
  const { key, keyId } = await world.account({ key: { canManage: false } });
  const api = apiOf(world, key);
  t.equal((await api.get('/api/keys/')).status, 200);
  const refused = [403, 'management_not_allowed', null];
  t.same(refusalOf(await api.post('/api/keys/', { name: 'x' })), refused);
  t.same(refusalOf(await api.post('/api/keys/', {})), refused, 'checked before the body');
  t.same(refusalOf(await api.patch(`/api/keys/${keyId}/`, { can_manage: true })), refused);
  t.same(refusalOf(await api.patch('/api/keys/987654321/', {})), refused, 'checked before the id');
  t.same(refusalOf(await api.delete(`/api/keys/${keyId}/`)), refused);
  t.same(refusalOf(await api.post(`/api/keys/${keyId}/explain/`, { model: 'flat' })), refused);
  t.same(refusalOf(await api.patch('/api/account/', { alert_threshold: 1 })), refused);
  t.same(refusalOf(await api.post('/api/account/alerts/test/')), refused);
});

t.test('who calls is checked before the body is read', async (t) => {
  const { key, keyId } = await world.account({ key: { canManage: false } });
  const written: readonly (readonly [string, string])[] = [
    ['POST', '/api/keys/'],
    ['PATCH', `/api/keys/${keyId}/`],
    ['DELETE', `/api/keys/${keyId}/`],
    ['POST', `/api/keys/${keyId}/explain/`],
    ['PATCH', '/api/account/'],
    ['POST', '/api/account/alerts/test/'],
  ];
  for (const [method, path] of written) {
    for (const type of ['application/json', 'text/plain']) {
      const send = async (authorization: Record<string, string>) => {
        const headers = { 'content-type': type, ...authorization };
        const response = await fetch(`${world.url}${path}`, { method, headers, body: '{"name":' });
        const { error } = (await response.json()) as { error: ApiError };
        return [response.status, error.code];
      };
      t.same(await send({}), [401, 'missing_api_key'], `${method} ${path} ${type}`);
      t.same(await send({ authorization: `Bearer ${key}` }), [403, 'management_not_allowed']);
    }
  }
});

t.test('a key that is created without restrictions may manage', async (t) => {
  const { key } = await world.account();
  const { body } = await apiOf(world, key).post<CreatedKeyView>('/api/keys/', {
    name: 'x',
    allowed_models: [],
    spending_limit: null,
    rpm_limit: null,
    tpm_limit: null,
    max_parallel_requests: null,
    active_hours: '',
    expires_at: null,
    webhook_url: 'https://example.com/',
    spending_period: 'daily',
  });
  t.equal(await managesNow(key, body.id), true);
});

t.test('a key that is created with any restriction may not, unless the request says so', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  for (const [field, value] of entries) {
    const { body } = await api.post<CreatedKeyView>('/api/keys/', { name: field, [field]: value });
    t.equal(await managesNow(key, body.id), false, field);
  }
  const said = await api.post<CreatedKeyView>('/api/keys/', { name: 'x', ...RESTRICTIONS, can_manage: true });
  t.equal(await managesNow(key, said.body.id), true);
  const denied = await api.post<CreatedKeyView>('/api/keys/', { name: 'x', can_manage: false });
  t.equal(await managesNow(key, denied.body.id), false);
});

t.test('a key that another key restricts may manage no longer, unless the request says so', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  for (const [field, value] of entries) {
    const { body } = await api.post<CreatedKeyView>('/api/keys/', { name: field });
    const said = await api.patch<KeyView>(`/api/keys/${body.id}/`, { [field]: value, can_manage: true });
    t.equal(said.body.can_manage, true, `${field}, said`);
    const unsaid = await api.patch<KeyView>(`/api/keys/${body.id}/`, { [field]: value });
    t.equal(unsaid.body.can_manage, false, field);
  }
});

t.test('a PATCH without a restriction leaves can_manage as it is', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  const { body } = await api.post<CreatedKeyView>('/api/keys/', {
    name: 'x',
    spending_limit: 5,
    can_manage: true,
  });
  const path = `/api/keys/${body.id}/`;
  t.equal((await api.patch<KeyView>(path, { name: 'y', allowed_ips: [] })).body.can_manage, true);
  await api.patch(path, { can_manage: false });
  t.equal(
    (await api.patch<KeyView>(path, { spending_limit: null })).body.can_manage,
    false,
    'nor does lifting give it',
  );
});

t.test('a key that restricts itself keeps it, so that no owner locks themselves out', async (t) => {
  const { key, keyId } = await world.account();
  const api = apiOf(world, key);
  const { allowed_origins: _, ...own } = RESTRICTIONS;
  const { body } = await api.patch<KeyView>(`/api/keys/${keyId}/`, own);
  t.equal(body.can_manage, true);
  t.equal((await api.patch(`/api/keys/${keyId}/`, { spending_limit: null })).status, 200);
});

t.test('a key that was handed out with limits cannot lift them', async (t) => {
  const { key } = await world.account();
  const { body } = await apiOf(world, key).post<CreatedKeyView>('/api/keys/', {
    name: 'x',
    spending_limit: 1,
  });
  const answer = await apiOf(world, body.key).patch(`/api/keys/${body.id}/`, { spending_limit: null });
  t.same(refusalOf(answer), [403, 'management_not_allowed', null]);
});

t.test('taking can_manage away counts from the next request on', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  const { body } = await api.post<CreatedKeyView>('/api/keys/', { name: 'x' });
  const other = apiOf(world, body.key);
  t.equal((await other.post('/api/keys/', { name: 'y' })).status, 201);
  await api.patch(`/api/keys/${body.id}/`, { can_manage: false });
  t.same(refusalOf(await other.post('/api/keys/', { name: 'z' })), [403, 'management_not_allowed', null]);
});

async function managesNow(key: string, id: number): Promise<boolean | undefined> {
  const { body } = await apiOf(world, key).get<{ keys: KeyView[] }>('/api/keys/');
  return body.keys.find((listed) => listed.id === id)?.can_manage;
}
