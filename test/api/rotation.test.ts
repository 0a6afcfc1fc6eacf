import t from 'tap';
import type { CreatedKeyView, KeyView, RotatedKeyView } from '../../src/api/keys/key-view.ts';
import { hashKey } from '../../src/domain/key-value.ts';
import { until } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
/** The route by which a key rotates itself. */
const OWN = '/api/key/rotate/';
const CONFLICT = [412, 'version_conflict', 'If-Match'];

/** An owner with a managing key, and a second key of theirs at version 1. */
async function ownerOfTwo() {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body } = await api.post<CreatedKeyView>('/api/keys/', { name: 'second' });
  return { ...owner, api, id: body.id, value: body.key, created: body, path: `/api/keys/${body.id}/rotate/` };
}

async function statusOf(value: string): Promise<number> {
  const answer = await world.chat(value);
  await answer.arrayBuffer();
  return answer.status;
}

t.test('a rotation answers like a creation, with until when the previous value is valid', async (t) => {
  const { api, path, id, value, created, accountId } = await ownerOfTwo();
  const earliest = Date.now();
  const { status, body, headers } = await api.post<RotatedKeyView>(path, { grace_seconds: 3_600 });
  t.equal(status, 200);
  t.match(headers.get('cache-control'), /no-store/);
  t.same(Object.keys(body).sort(), [...Object.keys(created), 'previous_valid_until'].sort());
  t.match(body, { id, name: 'second', created_at: created.created_at, _service: created._service });
  t.not(body.key, value);
  t.ok(body.key.startsWith(body.prefix));
  t.match(body.previous_valid_until, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  // Redis runs on this machine; this process knows its clock as of one reply ago.
  const graceMs = Date.parse(body.previous_valid_until ?? '') - earliest;
  t.ok(graceMs > 3_595_000 && graceMs < 3_660_000, `${graceMs} ms`);
  const record = await world.book.key(accountId, id);
  t.match(record, { version: 2, hash: hashKey(body.key), previousHash: hashKey(value), prefix: body.prefix });
  const { body: list } = await api.get<{ keys: KeyView[] }>('/api/keys/');
  t.match(
    list.keys.find((key) => key.id === id),
    { prefix: body.prefix, version: 2, is_active: true },
  );
  t.notMatch(JSON.stringify(list), body.key);
});

t.test('without grace, or without a body, the previous value is refused immediately', async (t) => {
  const { api, path, value } = await ownerOfTwo();
  let newest = value;
  for (const body of [{ grace_seconds: 0 }, {}, undefined, '']) {
    const rotated = await api.post<RotatedKeyView>(path, body);
    t.match([rotated.status, rotated.body.previous_valid_until], [200, null]);
    t.equal(await statusOf(newest), 401);
    newest = rotated.body.key;
    t.equal(await statusOf(newest), 200);
  }
  const bare = await world.chat(value);
  t.match(await bare.json(), { error: { code: 'invalid_api_key', type: 'authentication_error' } });
  t.equal(bare.headers.get('www-authenticate'), 'Bearer');
});

t.test('the end of the grace is ended by name, and shows the key without its value', async (t) => {
  const { api, path, id, value } = await ownerOfTwo();
  const { body } = await api.post<RotatedKeyView>(path, { grace_seconds: 2_592_000 });
  t.equal(await statusOf(value), 200);
  const ended = await api.post<KeyView>(path, { end_grace: true });
  t.match([ended.status, ended.body.id, ended.body.version], [200, id, 3]);
  t.equal('key' in ended.body, false);
  t.equal(await statusOf(value), 401);
  t.equal(await statusOf(body.key), 200);
  const again = await api.post<KeyView>(path, { end_grace: true });
  t.match([again.status, again.body.version], [200, 3], 'a repeat changes nothing');
  await api.post(path, { grace_seconds: 1 });
  await until('the end of the grace', async () => (await statusOf(body.key)) === 401);
  const over = await api.post<KeyView>(path, { end_grace: true });
  t.match([over.status, over.body.version], [200, 4], 'nor does it after the end of the grace');
});

t.test('Redis’ clock, not the gateway’s, decides whether a grace is shown', async (t) => {
  const { api: first, path, id, key, keyId } = await ownerOfTwo();
  let api = first;
  const untilOf = async () => {
    const { body: list } = await api.get<{ keys: KeyView[] }>('/api/keys/');
    const { body: changed } = await api.patch<KeyView>(`/api/keys/${id}/`, {});
    return [list.keys.find((one) => one.id === id), changed].map((one) => one?.previous_valid_until);
  };
  const { body } = await api.post<RotatedKeyView>(path, { grace_seconds: 3_600 });
  const { now } = Date;
  t.capture(Date, 'now', () => now() + 86_400_000);
  t.same(await untilOf(), [body.previous_valid_until, body.previous_valid_until], 'a clock that is fast');
  const own = await api.post<RotatedKeyView>(`/api/keys/${keyId}/rotate/`, { grace_seconds: 3_600 });
  const asked = await apiOf(world, key).get<KeyView>('/api/key/');
  t.equal(asked.body.previous_valid_until, own.body.previous_valid_until);
  Date.now = () => now() - 86_400_000;
  t.teardown(() => {
    Date.now = now;
  });
  // The previous value itself would change nothing.
  api = apiOf(world, own.body.key);
  const { body: rotated } = await api.post<RotatedKeyView>(path, { grace_seconds: 1 });
  t.ok(rotated.previous_valid_until);
  await until('the end of the grace', async () => (await statusOf(body.key)) === 401);
  t.same(await untilOf(), [null, null], 'a clock that is slow');
});

t.test('an invalid request names the field and changes nothing', async (t) => {
  const { api, path, accountId, id, value } = await ownerOfTwo();
  const wrong: readonly (readonly [unknown, string | null, string?])[] = [
    [{ grace_seconds: -1 }, 'grace_seconds'],
    [{ grace_seconds: 2_592_001 }, 'grace_seconds'],
    [{ grace_seconds: 1.5 }, 'grace_seconds'],
    [{ grace_seconds: '60' }, 'grace_seconds'],
    [{ grace_seconds: null }, 'grace_seconds'],
    [{ grace_seconds: true }, 'grace_seconds'],
    ['{"grace_seconds":1e400}', 'grace_seconds'],
    [{ end_grace: false }, 'end_grace'],
    [{ end_grace: 1 }, 'end_grace'],
    [{ end_grace: null }, 'end_grace'],
    [{ end_grace: true, grace_seconds: 0 }, 'grace_seconds'],
    [{ grace: 60 }, 'grace'],
    [[], null, 'invalid_json'],
    ['null', null, 'invalid_json'],
    ['{', null, 'invalid_json'],
  ];
  for (const [body, param, code = 'invalid_field'] of wrong) {
    t.same(refusalOf(await api.post(path, body)), [400, code, param], JSON.stringify(body));
  }
  const queried = await api.post(`${path}?grace_seconds=60`, {});
  t.same(refusalOf(queried), [400, 'invalid_field', 'grace_seconds']);
  const matched = await api.post(path, {}, { 'if-match': 'x' });
  t.same(refusalOf(matched), [400, 'invalid_field', 'If-Match']);
  t.match(await world.book.key(accountId, id), { version: 1, hash: hashKey(value) });
});

t.test('both paths are answered, and no other method', async (t) => {
  const { api, path, value } = await ownerOfTwo();
  t.equal((await api.post(path.slice(0, -1), {})).status, 200);
  t.equal(await statusOf(value), 401);
  t.equal((await api.get(path)).status, 404);
});

t.test('a rotation of another version changes nothing', async (t) => {
  const { api, path, accountId, id, value } = await ownerOfTwo();
  t.same(refusalOf(await api.post(path, {}, { 'if-match': '"2"' })), CONFLICT);
  t.same(refusalOf(await api.post(path, { end_grace: true }, { 'if-match': '7' })), CONFLICT);
  t.match(await world.book.key(accountId, id), { version: 1, hash: hashKey(value) });
  t.equal(await statusOf(value), 200);
  t.equal((await api.post(path, {}, { 'if-match': '"1"' })).status, 200);
});

t.test('one of several concurrent rotations of one version succeeds, and its value works', async (t) => {
  const { api, path } = await ownerOfTwo();
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => api.post<RotatedKeyView>(path, {}, { 'if-match': '1' })),
  );
  const made = answers.filter(({ status }) => status === 200);
  t.equal(made.length, 1);
  t.equal(answers.filter(({ status }) => status === 412).length, 7);
  t.equal(await statusOf(made[0]?.body.key ?? ''), 200);
});

t.test('only a managing key rotates, and only keys of its account', async (t) => {
  const { key, keyId } = await world.account({ key: { canManage: false } });
  const { api, path } = await ownerOfTwo();
  const narrow = apiOf(world, key);
  const refused = [403, 'management_not_allowed', null];
  t.same(
    refusalOf(await narrow.post(`/api/keys/${keyId}/rotate/`, {})),
    refused,
    'itself only by its own route',
  );
  t.same(refusalOf(await narrow.post(path, { x: 1 })), refused, 'checked before id and body');
  const unknown = [404, 'key_not_found', null];
  for (const id of [keyId, 987_654_321, 0, '01', 'x']) {
    t.same(refusalOf(await api.post(`/api/keys/${id}/rotate/`, {})), unknown, String(id));
  }
  t.same(refusalOf(await api.post(`/api/keys/${keyId}/rotate/`, { end_grace: true })), unknown);
  t.equal(await statusOf(key), 200);
});

t.test('a key rotates itself', async (t) => {
  const { key, keyId } = await world.account();
  const { body } = await apiOf(world, key).post<RotatedKeyView>(`/api/keys/${keyId}/rotate/`, {});
  t.same(refusalOf(await apiOf(world, key).get('/api/keys/')), [401, 'invalid_api_key', null]);
  t.match(await apiOf(world, body.key).get('/api/key/'), {
    status: 200,
    body: { id: keyId, can_manage: true },
  });
});

t.test('a key that may not manage rotates itself, with a grace, and the audit log names it', async (t) => {
  const { api: owner, accountId, id, value } = await ownerOfTwo();
  await owner.patch(`/api/keys/${id}/`, { can_manage: false, rpm_limit: 600 });
  const old = apiOf(world, value);
  const rotated = await old.post<RotatedKeyView>(OWN, { grace_seconds: 3_600 });
  t.match([rotated.status, rotated.body.id], [200, id]);
  t.ok(rotated.body.previous_valid_until);
  const fresh = apiOf(world, rotated.body.key);
  t.match((await fresh.get('/api/key/')).body, { id, can_manage: false, rpm_limit: 600 });
  t.same([await statusOf(value), await statusOf(rotated.body.key)], [200, 200]);
  const refused = [403, 'management_not_allowed', null];
  t.same(refusalOf(await old.post(OWN, {})), refused, 'the previous value does not');
  t.equal((await fresh.post(OWN, { end_grace: true })).status, 200);
  t.equal(await statusOf(value), 401);
  const [{ actor, action, target } = {} as never] = await world.book.auditEntries({ accountId, limit: 1 });
  t.match([action, actor?.type, actor?.id, target?.id], ['key.end_grace', 'key', id, id]);
});

t.test('a rotation of itself heeds the version, the body and the restrictions of the key', async (t) => {
  const { key } = await world.account({ key: { canManage: false } });
  const api = apiOf(world, key);
  t.same(refusalOf(await api.post(OWN, {}, { 'if-match': '"999"' })), [412, 'version_conflict', 'If-Match']);
  t.same(refusalOf(await api.post(OWN, { x: 1 })), [400, 'invalid_field', 'x']);
  t.same(refusalOf(await api.post(`${OWN}?x=1`, {})), [400, 'invalid_field', 'x']);
  const elsewhere = await world.account({ key: { canManage: false, allowedIps: ['10.0.0.1'] } });
  t.same(refusalOf(await apiOf(world, elsewhere.key).post(OWN, {})), [403, 'ip_not_allowed', null]);
  t.equal((await api.post<RotatedKeyView>(OWN)).status, 200, 'without a body');
  t.equal(await statusOf(key), 401);
});

t.test('the operator rotates the key of an account, and of no other', async (t) => {
  const { key, keyId, accountId } = await world.account();
  const { accountId: other } = await world.account();
  const path = `/api/admin/accounts/${accountId}/keys/${keyId}/rotate/`;
  const { body } = await operator.post<RotatedKeyView>(path, { grace_seconds: 60 });
  t.equal(await statusOf(key), 200);
  t.equal(await statusOf(body.key), 200);
  t.equal((await operator.post(path, { end_grace: true })).status, 200);
  t.equal(await statusOf(key), 401);
  const elsewhere = path.replace(`/accounts/${accountId}/`, `/accounts/${other}/`);
  t.same(refusalOf(await operator.post(elsewhere, {})), [404, 'key_not_found', null]);
  t.same(refusalOf(await operator.post(path, { grace_seconds: -1 })), [
    400,
    'invalid_field',
    'grace_seconds',
  ]);
  t.same(refusalOf(await operator.post(path, {}, { 'if-match': '1' })), CONFLICT);
  t.equal((await apiOf(world, body.key).post(path, {})).status, 401, 'an owner is no operator');
});

t.test(
  'an inactive key is rotated without grace, stays inactive, and returns with its newest value',
  async (t) => {
    const { api, path, id, value } = await ownerOfTwo();
    await api.delete(`/api/keys/${id}/`);
    const { body } = await api.post<RotatedKeyView>(path, { grace_seconds: 60 });
    t.equal(body.previous_valid_until, null);
    t.match(await (await world.chat(body.key)).json(), { error: { code: 'inactive_api_key' } });
    t.match(await (await world.chat(value)).json(), { error: { code: 'invalid_api_key' } });
    await api.patch(`/api/keys/${id}/`, { is_active: true });
    t.same([await statusOf(body.key), await statusOf(value)], [200, 401]);
  },
);
