import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const owner = await world.account();
const api = apiOf(world, owner.key);
const { body: victim } = await api.post<CreatedKeyView>('/api/keys/', {
  name: 'victim',
  description: 'untouched',
});

const listed = async () => (await api.get<{ keys: KeyView[] }>('/api/keys/')).body.keys;

/** A bad value each; test/domain/key-settings.test.ts has the others. */
const REFUSED: Readonly<Record<string, unknown>> = {
  name: '',
  is_active: 'true',
  spending_limit: -1,
  rpm_limit: 0,
  allowed_ips: ['10.0.0.0/33'],
  webhook_url: 'ftp://example.com/',
  last_used_at: null,
  version: 2,
  unknown_field: {},
  constructor: {},
};

t.test('a bad field is refused by name on PATCH and creation, and changes nothing', async (t) => {
  const before = await listed();
  for (const [field, value] of Object.entries(REFUSED)) {
    const patched = await api.patch(`/api/keys/${victim.id}/`, { description: 'changed', [field]: value });
    t.same(refusalOf(patched), [400, 'invalid_field', field], `PATCH ${field}`);
    const created = await api.post('/api/keys/', { name: 'new', [field]: value });
    t.same(refusalOf(created), [400, 'invalid_field', field], `POST ${field}`);
  }
  t.same(await listed(), before);
});

t.test('a body that is not a JSON object is refused', async (t) => {
  for (const body of ['{"name":', '[]', '"x"', 'null', '', '{"name":"x"} x']) {
    t.same(refusalOf(await api.post('/api/keys/', body)), [400, 'invalid_json', null], JSON.stringify(body));
  }
});

t.test('a repeated field is refused, and nothing changes', async (t) => {
  const path = `/api/keys/${victim.id}/`;
  const before = await listed();
  for (const body of [
    '{"spending_limit":1,"spending_limit":null}',
    '{"spending_limit":null,"name":"other","spending_\\u006cimit":1}',
  ]) {
    t.same(refusalOf(await api.patch(path, body)), [400, 'invalid_json', 'spending_limit'], body);
  }
  t.same(await listed(), before);
});

t.test('a body that is not UTF-8 is refused', async (t) => {
  const response = await fetch(`${world.url}/api/keys/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
    body: Buffer.from('{"name":"\xff"}', 'latin1'),
  });
  t.equal(response.status, 400);
  t.match(await response.json(), { error: { code: 'invalid_json' } });
});

t.test('a body of another content type is refused', async (t) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
    const answer = await api.post('/api/keys/', '{"name":"x"}', { 'content-type': type });
    t.same(refusalOf(answer), [415, 'unsupported_media_type', null], type);
  }
});

t.test('a charset beside the content type is no matter', async (t) => {
  const answer = await api.post(
    '/api/keys/',
    { name: 'x' },
    { 'content-type': 'application/json; charset=utf-8' },
  );
  t.equal(answer.status, 201);
});

t.test('a body above 1 MiB is refused', async (t) => {
  const answer = await api.post('/api/keys/', { name: 'x', description: 'x'.repeat(1_100_000) });
  t.same(refusalOf(answer), [413, 'body_too_large', null]);
});
