import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const CONFLICT = [412, 'version_conflict', 'If-Match'];

async function versionOf(api: Api, id: number): Promise<number | undefined> {
  const { body } = await api.get<{ keys: KeyView[] }>('/api/keys/');
  return body.keys.find((key) => key.id === id)?.version;
}

/** An owner and a second key of theirs, which is at version 1. */
async function ownerOfTwo() {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body } = await api.post<CreatedKeyView>('/api/keys/', { name: 'second' });
  return { ...owner, api, id: body.id, value: body.key, path: `/api/keys/${body.id}/` };
}

t.test('only a change of its settings raises the version of a key', async (t) => {
  const { api, accountId, id, value, path } = await ownerOfTwo();
  t.equal(await versionOf(api, id), 1);
  t.equal((await api.patch<KeyView>(path, { name: 'renamed' })).body.version, 2);
  t.equal((await world.chat(value)).status, 200);
  await world.settled();
  await api.patch('/api/account/', { alert_threshold: 5 });
  await operator.patch(`/api/admin/accounts/${accountId}/`, { alert_threshold: 6, rpm_limit: 1_000 });
  await operator.post(`/api/admin/accounts/${accountId}/credits/`, { amount: 1 });
  await api.post('/api/keys/', { name: 'another' });
  t.same(refusalOf(await api.patch(path, { name: '' })), [400, 'invalid_field', 'name']);
  t.equal(await versionOf(api, id), 2, 'neither by calls nor by what becomes of the account or other keys');
  const limits = { rpm_limit: 60, tpm_limit: 1_000, max_parallel_requests: 5 };
  t.match((await api.patch<KeyView>(path, limits)).body, { ...limits, version: 3 });
  const lifted = { rpm_limit: null, tpm_limit: null, max_parallel_requests: 5 };
  const { body } = await api.patch<KeyView>(path, { rpm_limit: null, tpm_limit: null });
  t.match(body, { ...lifted, version: 4 });
  await api.delete(path);
  t.equal(await versionOf(api, id), 5);
});

t.test(
  'two tabs do not overwrite each other: a change of an older version gets 412 and changes nothing',
  async (t) => {
    const { api, path, id, value } = await ownerOfTwo();
    t.equal(
      (await api.patch<KeyView>(path, { allowed_models: ['flat'] }, { 'if-match': '"1"' })).status,
      200,
    );
    const late = await api.patch(path, { allowed_models: ['tokens'] }, { 'if-match': '"1"' });
    t.same(refusalOf(late), CONFLICT);
    t.match(late.error?.message, /version is now 2/);
    t.same(refusalOf(await api.delete(path, { 'if-match': '1' })), CONFLICT);
    t.equal(await versionOf(api, id), 2);
    t.equal((await world.chat(value)).status, 200, 'neither deleted nor moved to another model');
    t.same((await api.delete(path, { 'if-match': '"2"' })).body, { deleted: true });
  },
);

t.test('quotes are optional, * is any version, and without the header the last change wins', async (t) => {
  const { api, path } = await ownerOfTwo();
  const versions: unknown[] = [];
  for (const [index, headers] of [
    { 'if-match': '1' },
    { 'if-match': '*' },
    {},
    { 'if-match': '"4"' },
  ].entries()) {
    versions.push((await api.patch<KeyView>(path, { name: `x${index}` }, headers)).body.version);
  }
  t.same(versions, [2, 3, 4, 5]);
});

t.test('a request that changes no setting leaves the version, and is held to it', async (t) => {
  const { api, path, id } = await ownerOfTwo();
  const { body: key } = await api.patch<KeyView>(path, { name: 'same', allowed_ips: ['10.0.0.0/8'] });
  t.match(key, { version: 2, can_manage: false });
  for (const body of [{}, { name: ' same ' }, { allowed_ips: ['10.0.0.0/8'], spending_limit: null }, key]) {
    const sent = body === key ? { is_active: true, can_manage: false, expires_at: null } : body;
    const again = await api.patch<KeyView>(path, sent);
    t.match([again.status, again.body.version], [200, 2], JSON.stringify(sent));
  }
  t.same(refusalOf(await api.patch(path, {}, { 'if-match': '"1"' })), CONFLICT);
  t.match((await api.patch<KeyView>(path, { can_manage: true })).body, { version: 3 });
  const narrowed = await api.patch<KeyView>(path, { allowed_ips: ['10.0.0.0/8'] });
  t.match(narrowed.body, { version: 4, can_manage: false }, 'a key that lost can_manage is changed');
  for (const round of ['first', 'repeated']) {
    t.same((await api.delete(path)).body, { deleted: true });
    t.equal(await versionOf(api, id), 5, round);
  }
  t.same(refusalOf(await api.delete(path, { 'if-match': '"4"' })), CONFLICT);
});

t.test('an If-Match that names no version is refused, and changes nothing', async (t) => {
  const { api, path, id } = await ownerOfTwo();
  for (const value of ['', 'x', '"1', '1"', 'W/"1"', '"1", "2"', '-1', '1.0', '1e0', '"*"', '9'.repeat(16)]) {
    const refused = [400, 'invalid_field', 'If-Match'];
    t.same(refusalOf(await api.patch(path, { name: 'x' }, { 'if-match': value })), refused, value);
    t.same(refusalOf(await api.delete(path, { 'if-match': value })), refused, value);
  }
  t.equal(await versionOf(api, id), 1);
});

t.test('exactly one of many concurrent changes to one version succeeds', async (t) => {
  const { api, path, id } = await ownerOfTwo();
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => api.patch(path, { name: `n${index}` }, { 'if-match': '"1"' })),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 1);
  t.equal(answers.filter(({ status }) => status === 412).length, 11);
  t.equal(await versionOf(api, id), 2);
});

t.test('an unknown key gets 404, for any version', async (t) => {
  const { api } = await ownerOfTwo();
  const answer = await api.patch('/api/keys/987654321/', { name: 'x' }, { 'if-match': '"1"' });
  t.same(refusalOf(answer), [404, 'key_not_found', null]);
});

t.test("the operator's changes are held to the version, too", async (t) => {
  const { accountId, id } = await ownerOfTwo();
  const path = `/api/admin/accounts/${accountId}/keys/${id}/`;
  t.same(refusalOf(await operator.delete(path, { 'if-match': '"7"' })), CONFLICT);
  t.same(refusalOf(await operator.delete(path, { 'if-match': 'x' })), [400, 'invalid_field', 'If-Match']);
  t.same((await operator.delete(path, { 'if-match': '"1"' })).body, { deleted: true });
});

t.test('a page of another origin may send If-Match', async (t) => {
  const answer = await fetch(`${world.url}/api/keys/1/`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://app.example.com',
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type,if-match',
    },
  });
  t.match(answer.headers.get('access-control-allow-headers'), /if-match/i);
  t.match(answer.headers.get('access-control-allow-methods'), /PATCH/);
});
