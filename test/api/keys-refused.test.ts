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

const CALL_LIMITS = [0, -1, 1.5, '5', true, 1e12, [], '', Number.MAX_SAFE_INTEGER + 1];

const REFUSED: Record<string, readonly unknown[]> = {
  name: ['', '   ', 'x'.repeat(101), 7, null],
  description: ['x'.repeat(1001), 7, null],
  is_active: ['true', 1, null],
  can_manage: ['true', 0, null],
  expires_at: ['tomorrow', '2030-01-01', '2030-01-01T00:00:00', '2030-02-30T00:00:00Z', 0],
  allowed_models: ['flat', [1], [''], null],
  allowed_categories: ['text', ['audio'], ['TEXT'], null],
  spending_limit: [-1, 0.0000001, '5', 1e300, true],
  spending_period: ['yearly', '', null],
  rpm_limit: CALL_LIMITS,
  tpm_limit: CALL_LIMITS,
  max_parallel_requests: CALL_LIMITS,
  active_hours: ['9-17', '09:00-09:00', '24:00-08:00', '09:00-24:01', '09:60-10:00', null],
  allowed_ips: ['10.0.0.1', ['10.0.0.0/33'], ['010.0.0.1'], ['example.com'], [null]],
  allowed_origins: ['https://example.com', ['https://example.com/path'], ['*'], [''], [3]],
  blocked_countries: ['DE', ['ZZ'], ['DEU'], [''], [null]],
  webhook_url: [
    'example.com',
    'ftp://example.com/',
    'https://u:p@example.com/',
    `https://e.com/${'x'.repeat(2040)}`,
    null,
  ],
  id: [1],
  spending_current: ['0'],
  last_used_at: [null, '2026-11-22T12:00:00.000Z'],
  previous_valid_until: [null, '2026-11-22T12:00:00.000Z'],
  version: [2],
  unknown_field: [{}],
  constructor: [{}],
};

for (const [field, values] of Object.entries(REFUSED)) {
  t.test(`a bad ${field} is refused by name on PATCH and creation, and changes nothing`, async (t) => {
    const before = await listed();
    for (const value of values) {
      const patched = await api.patch(`/api/keys/${victim.id}/`, { description: 'changed', [field]: value });
      t.same(refusalOf(patched), [400, 'invalid_field', field], `PATCH ${field}: ${JSON.stringify(value)}`);
      const created = await api.post('/api/keys/', { name: 'new', [field]: value });
      t.same(refusalOf(created), [400, 'invalid_field', field], `POST ${field}: ${JSON.stringify(value)}`);
    }
    t.same(await listed(), before);
  });
}

t.test('__proto__ is an unknown field like any other', async (t) => {
  const answer = await api.patch(`/api/keys/${victim.id}/`, '{"__proto__":{"is_active":false}}');
  t.same(refusalOf(answer), [400, 'invalid_field', '__proto__']);
});

t.test('a key needs a name', async (t) => {
  t.same(refusalOf(await api.post('/api/keys/', { description: 'x' })), [400, 'invalid_field', 'name']);
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
