import t from 'tap';
import type { KeySettings } from '../../src/domain/key.ts';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

t.test('without a known key there is nothing to see', async (t) => {
  const response = await fetch(`${world.url}/api/keys/`);
  t.equal(response.status, 401);
  t.equal(response.headers.get('www-authenticate'), 'Bearer');
  t.match(await response.json(), {
    error: { code: 'missing_api_key', type: 'authentication_error', param: null },
  });
  for (const token of ['nonsense', newKeyValue('sk-tg-').value, ADMIN_TOKEN]) {
    t.same(refusalOf(await apiOf(world, token).get('/api/keys/')), [401, 'invalid_api_key', null]);
  }
});

t.test('a key in the query counts for nothing', async (t) => {
  const { key } = await world.account();
  const response = await fetch(`${world.url}/api/keys/?api_key=${key}&key=${key}`);
  t.equal(response.status, 401);
});

const HELD_HERE: readonly (readonly [Partial<KeySettings>, number, string])[] = [
  [{ isActive: false }, 401, 'inactive_api_key'],
  [{ expiresAt: Date.parse('2020-01-01T00:00:00Z') }, 401, 'expired_api_key'],
  [{ activeHours: otherHours() }, 403, 'outside_active_hours'],
  [{ allowedIps: ['203.0.113.7'] }, 403, 'ip_not_allowed'],
  [{ allowedOrigins: ['https://app.example.com'] }, 403, 'origin_not_allowed'],
];
for (const [settings, status, code] of HELD_HERE) {
  t.test(`a caller's restriction holds on these routes too: ${code}`, async (t) => {
    const { key } = await world.account({ key: settings });
    const api = apiOf(world, key);
    t.same(refusalOf(await api.get('/api/keys/')), [status, code, null]);
    t.same(refusalOf(await api.get('/api/account/')), [status, code, null]);
  });
}

t.test("a caller's blocked country holds on these routes too", async (t) => {
  const { key } = await world.account({ key: { blockedCountries: ['US'] } });
  const response = await world.api('GET', '/api/keys/', key, undefined, { 'x-forwarded-for': '8.8.8.8' });
  t.equal(response.status, 403);
  t.match(await response.json(), { error: { code: 'country_blocked' } });
});

t.test('models, categories and credits do not hold on these routes', async (t) => {
  const { key } = await world.account({
    credits: 0,
    key: { allowedModels: ['none'], allowedCategories: ['video'] },
  });
  t.equal((await apiOf(world, key).get('/api/keys/')).status, 200);
});

/** Two hours that begin between one and two hours from now, so this moment is never within them. */
function otherHours(): string {
  const hour = new Date().getUTCHours();
  const text = (hours: number) => `${String(hours % 24).padStart(2, '0')}:00`;
  return `${text(hour + 2)}-${text(hour + 4)}`;
}
