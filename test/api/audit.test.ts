import t from 'tap';
import type { EntryView } from '../../src/api/audit/audit-view.ts';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
interface Page {
  readonly entries: readonly EntryView[];
  readonly next: string | null;
}
const PATH = '/api/account/audit/';

t.test('each change of a key is one entry, with who, what and where', async (t) => {
  const { key, keyId } = await world.account();
  const owner = apiOf(world, key);
  const made = await owner.post<CreatedKeyView>('/api/keys/', { name: 'app', rpm_limit: 5 });
  const path = `/api/keys/${made.body.id}/`;
  await owner.patch(path, { name: 'app 2', rpm_limit: 6 });
  await owner.patch(path, { name: 'app 2' });
  await owner.post(`${path}rotate/`, { grace_seconds: 60 });
  await owner.post(`${path}rotate/`, { end_grace: true });
  await owner.delete(path);
  const { body } = await owner.get<Page>(`${PATH}?target=key:${made.body.id}`);
  const actor = { type: 'key', id: keyId };
  const target = { type: 'key', id: made.body.id, name: 'app 2' };
  t.match(body.entries, [
    { action: 'key.delete', actor, target, before: { is_active: true }, after: { is_active: false } },
    { action: 'key.end_grace', before: null, after: null },
    { action: 'key.rotate' },
    {
      action: 'key.update',
      before: { name: 'app', rpm_limit: 5 },
      after: { name: 'app 2', rpm_limit: 6 },
      ip: '127.0.0.1',
      request_id: /^req_/,
    },
    { action: 'key.create', before: null, after: { name: 'app', rpm_limit: 5, is_active: true } },
  ]);
  t.equal(body.entries.length, 5, 'a change without a difference is none');
  t.equal(body.next, null);
  t.notMatch(JSON.stringify(body), made.body.key, 'values are in none');
  t.notMatch(JSON.stringify(body), /[0-9a-f]{64}/, 'nor are hashes');
});

t.test('the account itself: creation, settings, credits, test alerts', async (t) => {
  const { key, accountId } = await world.account();
  const owner = apiOf(world, key);
  await owner.patch('/api/account/', { alert_threshold: 7 });
  await operator.patch(`/api/admin/accounts/${accountId}/`, { overdraft: 3 });
  await operator.post(`/api/admin/accounts/${accountId}/credits/`, { amount: 5, note: 'Invoice 1' });
  await owner.post('/api/account/alerts/test/');
  const { body } = await owner.get<Page>(`${PATH}?target=account:${accountId}`);
  t.match(body.entries.slice(0, 4), [
    { action: 'alert.test', actor: { type: 'key' } },
    {
      action: 'account.credit',
      actor: { type: 'operator', id: null },
      after: { amount: 5, note: 'Invoice 1' },
    },
    {
      action: 'account.update',
      actor: { type: 'operator' },
      before: { overdraft: 0 },
      after: { overdraft: 3 },
    },
    { action: 'account.update', actor: { type: 'key' }, after: { alert_threshold: 7 } },
  ]);
  t.ok(body.entries.some(({ action }) => action === 'account.create'));
});

t.test('pages, filters and exports', async (t) => {
  const { key, keyId, accountId } = await world.account();
  const owner = apiOf(world, key);
  for (const alert_threshold of [1, 2, 3, 4]) await owner.patch('/api/account/', { alert_threshold });
  const first = await owner.get<Page>(`${PATH}?limit=3&actor=key:${keyId}`);
  t.equal(first.body.entries.length, 3);
  const second = await owner.get<Page>(`${PATH}?limit=3&actor=key:${keyId}&before=${first.body.next}`);
  t.match(second.body, { entries: [{ after: { alert_threshold: 1 } }], next: null });
  t.same((await owner.get<Page>(`${PATH}?action=key.rotate`)).body.entries, []);
  t.same((await owner.get<Page>(`${PATH}?to=2020-01-01`)).body.entries, []);
  const csv = await world.api('GET', `${PATH}?format=csv&action=account.update`, key);
  const [head, ...lines] = (await csv.text()).trim().split('\r\n');
  t.match(head, /^id,at,actor_type/);
  t.equal(lines.length, 4);
  const all = await operator.get<Page>(`/api/admin/audit/?target=account:${accountId}&limit=1`);
  t.match(all.body.entries, [{ after: { alert_threshold: 4 } }]);
  for (const query of ['limit=201', 'actor=nobody:1', 'actor=key', 'action=none', 'color=1'])
    t.equal((await owner.get(`${PATH}?${query}`)).status, 400, query);
  for (const [query, field] of [
    ['target=key:abc', 'target'],
    ['actor=person:x', 'actor'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
  ] as const)
    t.same(refusalOf(await owner.get(`${PATH}?${query}`)), [400, 'invalid_field', field], query);
});

t.test('refused changes: twenty of an actor have an entry each', async (t) => {
  const { key } = await world.account();
  const made = await apiOf(world, key).post<CreatedKeyView>('/api/keys/', { name: 'app', can_manage: false });
  const app = apiOf(world, made.body.key);
  for (let time = 0; time < 25; time++)
    t.same(refusalOf(await app.patch('/api/account/', { alert_threshold: 1 })).slice(0, 2), [
      403,
      'management_not_allowed',
    ]);
  const { body } = await apiOf(world, key).get<Page>(`${PATH}?actor=key:${made.body.id}&limit=200`);
  t.equal(body.entries.length, 20);
  t.match(body.entries[0], {
    action: 'request.refuse',
    target: { type: 'route', id: 'PATCH /api/account/' },
    after: { code: 'management_not_allowed' },
  });
  t.equal((await app.get(PATH)).status, 403, 'who may not manage reads no audit log');
});

t.test('an account sees its own entries only', async (t) => {
  const [one, other] = [await world.account(), await world.account()];
  await apiOf(world, one.key).patch('/api/account/', { alert_threshold: 3 });
  const { body } = await apiOf(world, other.key).get<Page>(`${PATH}?action=account.update`);
  t.same(body.entries, []);
});

t.test('the operator filters the log of all accounts by one', async (t) => {
  const [one, other] = [await world.account(), await world.account()];
  const { body } = await operator.get<Page>(`/api/admin/audit/?account_id=${one.accountId}`);
  t.ok(body.entries.length > 0);
  t.ok(body.entries.every(({ account_id }) => account_id === one.accountId));
  const all = await operator.get<Page>('/api/admin/audit/');
  t.ok(all.body.entries.some(({ account_id }) => account_id === other.accountId));
});
