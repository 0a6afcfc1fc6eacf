import t from 'tap';
import type { MarginReportView } from '../../src/api/operator/margin-view.ts';
import type { UsageReportView } from '../../src/api/usage/usage-view.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const world = await startOwnGateway(t);
await dayThatLasts();
const operator = apiOf(world, ADMIN_TOKEN);
const owner = await world.account({ credits: 100, email: 'groups@example.com' });
const api = apiOf(world, owner.key);
const { body: app } = await api.post<{ id: number; key: string }>('/api/keys/', { name: 'app' });
for (const [key, model] of [
  [owner.key, 'flat'],
  [app.key, 'flat'],
  [app.key, 'renamed'],
  [app.key, 'nonesuch'],
] as const) {
  await (await world.chat(key, { model })).arrayBuffer();
}
await world.settled();

const report = async (query: string) => (await api.get<UsageReportView>(`/api/account/usage/${query}`)).body;
await until('the refused call', async () => (await report('')).total.refused === 1);
const today = new Date().toISOString().slice(0, 10);

t.test('grouped by two columns, each row has both names', async (t) => {
  const { group_by, rows, total } = await report('?group_by=key,model');
  t.equal(group_by, 'key,model');
  t.match(rows, [
    { key_id: owner.keyId, key_name: String, model: 'flat', calls: 1, credits: '1.000000' },
    { key_id: app.id, key_name: 'app', model: null, calls: 0, refused: 1 },
    { key_id: app.id, key_name: 'app', model: 'flat', calls: 1 },
    { key_id: app.id, key_name: 'app', model: 'renamed', calls: 1 },
  ]);
  t.match(total, { calls: 3, failed: 0, refused: 1, credits: '3.000000' });
  const days = await report('?group_by=day,model');
  t.match(
    days.rows.filter(({ calls }) => calls > 0).map(({ model, calls }) => [model, calls]),
    [
      ['flat', 2],
      ['renamed', 1],
    ],
  );
  const one = await report(`?group_by=model,day&key_id=${owner.keyId}`);
  t.match(one.rows, [{ model: 'flat', calls: 1 }]);
});

t.test('by key alone, with its name', async (t) => {
  t.match((await report('?group_by=key')).rows, [
    { key_id: owner.keyId, calls: 1 },
    { key_id: app.id, key_name: 'app', calls: 2, refused: 1 },
  ]);
});

t.test('by hour, the last 24 hours unless asked otherwise', async (t) => {
  const { rows, total } = await report('?group_by=hour');
  t.ok(rows.every(({ hour }) => /^\d{4}-\d{2}-\d{2}T\d{2}:00:00\.000Z$/.test(hour ?? '')));
  t.match(total, { calls: 3, refused: 1 });
  t.match((await report(`?group_by=hour,key&from=${today}&to=${today}`)).total, total);
  for (const both of ['hour,day', 'day,hour']) {
    const byBoth = await report(`?group_by=${both}`);
    t.match(byBoth.total, total);
    t.ok(
      byBoth.rows.every(({ hour = '', day = '' }) => day.length === 10 && hour.startsWith(day)),
      both,
    );
  }
  t.equal((await report('?group_by=hour&from=2026-01-01&to=2026-01-08')).total.calls, 0);
});

t.test('an impossible group_by is refused', async (t) => {
  for (const group of ['color', 'day,day', 'day,key,model', 'account', 'day,', '']) {
    t.same(
      refusalOf(await api.get(`/api/account/usage/?group_by=${group}`)),
      [400, 'invalid_field', 'group_by'],
      group,
    );
  }
  const long = await api.get('/api/account/usage/?group_by=hour&from=2026-01-01&to=2026-01-09');
  t.same(refusalOf(long), [400, 'invalid_field', 'from']);
});

t.test('the operator groups by account and upstream too, with e-mail addresses', async (t) => {
  const all = async (query: string) =>
    (await operator.get<MarginReportView>(`/api/admin/usage/${query}`)).body;
  t.match((await all('')).rows, [{ account_id: owner.accountId, email: 'groups@example.com', calls: 3 }]);
  t.match(
    (await all('?group_by=account,upstream')).rows.filter(({ calls }) => calls > 0),
    [{ account_id: owner.accountId, email: 'groups@example.com', upstream: 'test', calls: 3 }],
  );
  t.match(
    (await all('?group_by=upstream,key')).rows.filter(({ calls }) => calls > 0),
    [
      { upstream: 'test', key_id: owner.keyId, calls: 1 },
      { upstream: 'test', key_id: app.id, key_name: 'app', calls: 2 },
    ],
  );
  t.match((await all('?group_by=hour,account')).total, { calls: 3, refused: 1 });
  const csv = await (
    await world.api('GET', '/api/admin/usage/?group_by=account,model&format=csv', ADMIN_TOKEN)
  ).text();
  t.match(csv, /^account_id,model,calls,/);
  t.match(csv, /,flat,2,/);
});
