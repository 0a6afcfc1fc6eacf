import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

interface KeyList {
  readonly keys: readonly KeyView[];
  readonly next?: string | null;
}

t.test('an account lists its keys by id, inactive ones included, and no key of another', async (t) => {
  const owner = await world.account();
  const stranger = await world.account();
  const api = apiOf(world, owner.key);
  const created = await api.post<CreatedKeyView>('/api/keys/', { name: 'second' });
  await api.delete(`/api/keys/${created.body.id}/`);
  const listed = await api.get<KeyList>('/api/keys/');
  t.equal(listed.status, 200);
  t.same(
    listed.body.keys.map((key) => [key.id, key.is_active]),
    [
      [owner.keyId, true],
      [created.body.id, false],
    ],
  );
  const others = await apiOf(world, stranger.key).get<KeyList>('/api/keys/');
  t.same(
    others.body.keys.map((key) => key.id),
    [stranger.keyId],
  );
});

t.test('a list of keys comes in pages where a limit is sent', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  for (let made = 1; made < 5; made++) await api.post('/api/keys/', { name: `key ${made}` });
  const whole = await api.get<KeyList>('/api/keys/');
  t.notOk('next' in whole.body);
  const pages: number[][] = [];
  for (let query: string | undefined = 'limit=2'; query; ) {
    const { body }: { body: KeyList } = await api.get<KeyList>(`/api/keys/?${query}`);
    pages.push(body.keys.map(({ id }) => id));
    query = body.next ? `limit=2&after=${body.next}` : undefined;
  }
  const ids = whole.body.keys.map(({ id }) => id);
  t.same(pages, [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
});

t.test(
  'the list of keys shows the fields of the specification in its order, then later ones, and neither value nor hash',
  async (t) => {
    const owner = await world.account();
    const { body } = await apiOf(world, owner.key).get<KeyList>('/api/keys/');
    const [key] = body.keys;
    t.match(key?.prefix, /^sk-tg-[0-9A-Za-z]{4}$/);
    t.match(key?.created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
    t.same(key, {
      id: owner.keyId,
      name: 'test',
      description: '',
      prefix: key?.prefix,
      is_active: true,
      expires_at: null,
      allowed_models: [],
      allowed_categories: [],
      spending_limit: null,
      spending_current: '0.000000',
      spending_period: 'monthly',
      spending_limits: [],
      active_hours: '',
      allowed_ips: [],
      allowed_origins: [],
      blocked_countries: [],
      webhook_url: '',
      created_at: key?.created_at,
      can_manage: true,
      version: 1,
      rpm_limit: null,
      tpm_limit: null,
      max_parallel_requests: null,
      limits: [],
      last_used_at: null,
      restrictions_locked: false,
      person_id: null,
      member: null,
      status: 'active',
      previous_valid_until: null,
    });
  },
);

t.test('creating a key returns 201 with its value, once; the key works immediately', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { status, body } = await api.post<CreatedKeyView>('/api/keys/', { name: '  build  ' });
  t.equal(status, 201);
  t.same(Object.keys(body).sort(), ['_service', 'created_at', 'id', 'key', 'name', 'prefix']);
  t.equal(body.name, 'build');
  t.match(body.key, /^sk-tg-[0-9A-Za-z]{38}$/);
  t.ok(body.key.startsWith(body.prefix));
  t.match(body._service.note, /save/i);
  t.equal((await world.chat(body.key)).status, 200);
});

t.test('defaults of a created key', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body: created } = await api.post<CreatedKeyView>('/api/keys/', { name: 'plain' });
  const { body } = await api.get<KeyList>('/api/keys/');
  t.match(
    body.keys.find(({ id }) => id === created.id),
    {
      description: '',
      is_active: true,
      expires_at: null,
      allowed_models: [],
      allowed_categories: [],
      spending_limit: null,
      spending_period: 'monthly',
      rpm_limit: null,
      tpm_limit: null,
      max_parallel_requests: null,
      active_hours: '',
      allowed_ips: [],
      allowed_origins: [],
      blocked_countries: [],
      webhook_url: '',
    },
  );
});

const EVERY_SETTING = {
  name: 'all of it',
  description: 'every setting there is',
  is_active: false,
  can_manage: true,
  expires_at: '2031-01-31T14:00:00+02:00',
  allowed_models: ['flat', 'not-in-the-catalog-yet'],
  allowed_categories: ['text', 'tts'],
  spending_limit: 12.345678,
  spending_period: 'weekly',
  rpm_limit: 60,
  tpm_limit: 100_000_000_000,
  max_parallel_requests: 1,
  active_hours: '22:00-24:00',
  allowed_ips: ['10.1.2.3/8', '::ffff:192.0.2.1', '2001:DB8::1'],
  allowed_origins: ['https://*.example.com', 'example.org'],
  blocked_countries: ['de', 'FR'],
  webhook_url: 'https://hooks.example.com/credits?x=1',
};
const EVERY_SETTING_STORED = {
  ...EVERY_SETTING,
  expires_at: '2031-01-31T12:00:00.000Z',
  allowed_ips: ['10.0.0.0/8', '192.0.2.1', '2001:db8::1'],
  blocked_countries: ['DE', 'FR'],
};

t.test('creation accepts every field of PATCH', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { status, body: created } = await api.post<CreatedKeyView>('/api/keys/', EVERY_SETTING);
  t.equal(status, 201);
  const { body } = await api.get<KeyList>('/api/keys/');
  t.match(
    body.keys.find(({ id }) => id === created.id),
    EVERY_SETTING_STORED,
  );
});

t.test('PATCH answers 200 with the whole key, and changes the fields sent only', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body: created } = await api.post<CreatedKeyView>('/api/keys/', {
    name: 'before',
    description: 'kept',
  });
  const renamed = await api.patch<KeyView>(`/api/keys/${created.id}/`, { name: 'after' });
  t.equal(renamed.status, 200);
  t.match(renamed.body, { id: created.id, name: 'after', description: 'kept', spending_current: '0.000000' });
  const everything = await api.patch<KeyView>(`/api/keys/${created.id}/`, EVERY_SETTING);
  t.match(everything.body, EVERY_SETTING_STORED);
  const lifted = await api.patch<KeyView>(`/api/keys/${created.id}/`, {
    expires_at: null,
    spending_limit: null,
  });
  t.match(lifted.body, { ...EVERY_SETTING_STORED, expires_at: null, spending_limit: null });
});

t.test(
  'a deleted key is refused immediately, stays in the list, and is_active: true brings it back',
  async (t) => {
    const owner = await world.account();
    const api = apiOf(world, owner.key);
    const { body: created } = await api.post<CreatedKeyView>('/api/keys/', { name: 'short-lived' });
    t.equal((await world.chat(created.key)).status, 200);
    const deleted = await api.delete(`/api/keys/${created.id}/`);
    t.same([deleted.status, deleted.body], [200, { deleted: true }]);
    t.equal((await world.chat(created.key)).status, 401);
    const again = await api.delete(`/api/keys/${created.id}/`);
    t.same([again.status, again.body], [200, { deleted: true }]);
    await api.patch(`/api/keys/${created.id}/`, { is_active: true });
    t.equal((await world.chat(created.key)).status, 200);
  },
);

t.test('DELETE with a JSON content type and no body is accepted', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body: created } = await api.post<CreatedKeyView>('/api/keys/', { name: 'x' });
  const response = await world.api('DELETE', `/api/keys/${created.id}/`, owner.key, undefined, {
    'content-type': 'application/json',
  });
  t.equal(response.status, 200);
});

t.test('every route answers without the trailing slash too', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  t.equal((await api.get('/api/keys')).status, 200);
  const created = await api.post<CreatedKeyView>('/api/keys', { name: 'x' });
  t.equal(created.status, 201);
  t.equal((await api.patch(`/api/keys/${created.body.id}`, {})).status, 200);
  t.equal((await api.post(`/api/keys/${created.body.id}/explain`, { model: 'flat' })).status, 200);
  t.equal((await api.delete(`/api/keys/${created.body.id}`)).status, 200);
});

t.test('the id of another account and an unknown id get the same answer', async (t) => {
  const owner = await world.account();
  const stranger = await world.account();
  const api = apiOf(world, owner.key);
  const unknown = await api.patch('/api/keys/987654321/', { name: 'x' });
  t.same(refusalOf(unknown), [404, 'key_not_found', null]);
  for (const id of [
    stranger.keyId,
    0,
    -1,
    '01',
    '1.0',
    '1e0',
    'abc',
    '9007199254740993',
    '99999999999999999999',
  ]) {
    const path = `/api/keys/${id}/`;
    t.same((await api.patch(path, { name: 'x' })).body, unknown.body, `PATCH ${id}`);
    t.same((await api.delete(path)).body, unknown.body, `DELETE ${id}`);
    t.same((await api.post(`${path}explain/`, { model: 'flat' })).body, unknown.body, `explain ${id}`);
  }
  const { body } = await apiOf(world, stranger.key).get<KeyList>('/api/keys/');
  t.match(body.keys, [{ name: 'test', is_active: true }]);
});

t.test('spending_current is the spend of the key and follows a changed period immediately', async (t) => {
  await dayThatLasts();
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body: other } = await api.post<CreatedKeyView>('/api/keys/', { name: 'spends' });
  await (await world.chat(other.key)).text();
  await world.settled();
  const { body } = await api.get<KeyList>('/api/keys/');
  t.same(
    body.keys.map((key) => key.spending_current),
    ['0.000000', '1.000000'],
  );
  const patched = await api.patch<KeyView>(`/api/keys/${other.id}/`, { spending_period: 'daily' });
  t.match(patched.body, { spending_period: 'daily', spending_current: '1.000000' });
});

t.test('answers are never cached', async (t) => {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  t.equal((await api.get('/api/keys/')).headers.get('cache-control'), 'no-store');
  t.equal((await api.post('/api/keys/', {})).headers.get('cache-control'), 'no-store');
});
