import t from 'tap';
import type { AccountView } from '../../src/api/account/account-view.ts';
import type { KeyListView, RotatedKeyView } from '../../src/api/keys/key-view.ts';
import { type ApiError, apiOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

/** An owner whose managing key leaked and was rotated with a grace period, and the holder of its previous value. */
async function leaked() {
  const owner = await world.account();
  const { body } = await apiOf(world, owner.key).post<RotatedKeyView>(`/api/keys/${owner.keyId}/rotate/`, {
    grace_seconds: 3_600,
  });
  return { ...owner, owner: apiOf(world, body.key), newest: body.key, thief: apiOf(world, owner.key) };
}

t.test('the previous value rotated the key in its grace, and outlived the new one', async (t) => {
  const { keyId, owner, newest, key } = await leaked();
  const { body: other } = await owner.post<{ id: number }>('/api/keys/', { name: 'other' });
  const changes: readonly (readonly [method: string, path: string, body?: unknown])[] = [
    ['POST', `/api/keys/${keyId}/rotate/`, { grace_seconds: 0 }],
    ['POST', `/api/keys/${keyId}/rotate/`],
    ['POST', `/api/keys/${keyId}/rotate/`, { end_grace: true }],
    ['POST', `/api/keys/${other.id}/rotate/`, {}],
    ['POST', '/api/keys/', { name: 'mine' }],
    ['PATCH', `/api/keys/${other.id}/`, { webhook_url: 'https://thief.example/' }],
    ['PATCH', `/api/keys/${keyId}/`, {}],
    ['DELETE', `/api/keys/${keyId}/`],
    ['DELETE', '/api/keys/999999/'],
    ['PATCH', '/api/account/', { alert_threshold: 0 }],
    ['POST', '/api/account/alerts/test/'],
    ['POST', '/api/keys/', '{"not json'],
  ];
  for (const [method, path, body] of changes) {
    const answer = await world.api(method, path, key, body);
    const { status, error } = { status: answer.status, ...((await answer.json()) as { error?: ApiError }) };
    t.match([status, error?.code], [403, 'management_not_allowed'], `${method} ${path}`);
    t.match(error?.message, /previous value.*new value/s);
  }
  t.equal((await owner.get<KeyListView>('/api/keys/')).body.keys.length, 2);
  t.equal((await world.chat(newest)).status, 200);
  t.equal((await world.chat(key)).status, 200, 'calls go on');
});

t.test('the previous value reads as before, and explains, but sees no webhook secret', async (t) => {
  const { keyId, owner, thief } = await leaked();
  for (const path of ['/api/keys/', '/api/key/', '/api/account/ledger/', '/api/account/usage/']) {
    t.same((await thief.get(path)).body, (await owner.get(path)).body, path);
  }
  t.equal((await thief.get('/api/account/alerts/')).status, 200);
  const [seen, whole] = [
    await thief.get<AccountView>('/api/account/'),
    await owner.get<AccountView>('/api/account/'),
  ];
  const { webhook_secret, ...others } = whole.body;
  t.match(webhook_secret, /^whsec_/);
  t.same(seen.body, others);
  const explained = await thief.post(`/api/keys/${keyId}/explain/`, { model: 'flat' });
  t.match([explained.status, explained.body], [200, { allowed: true }]);
});

t.test('once the grace is ended, the new value manages and the previous one is refused', async (t) => {
  const { keyId, owner, thief } = await leaked();
  t.equal((await owner.post(`/api/keys/${keyId}/rotate/`, { end_grace: true })).status, 200);
  t.equal((await thief.post(`/api/keys/${keyId}/rotate/`, {})).status, 401);
  t.equal((await owner.patch('/api/account/', { alert_threshold: 1 })).status, 200);
});
