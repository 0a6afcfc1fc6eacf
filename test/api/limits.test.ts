import t from 'tap';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import type { AccountLimitsView } from '../../src/api/limits/account-limit-view.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import { apiWith, memberOf } from '../helper/clients/people.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const { provider, letGo } = await startWaitingProvider(t);
const world = await startGatewayInProcess(t, { provider });
const operator = apiOf(world, ADMIN_TOKEN);

const daily = (credits: number) => ({ period: 'daily', credits });
const total = (credits: number) => ({ period: 'total', credits });

async function limitsOf(api: Api, query = '', path = '/api/account/limits/') {
  const { body } = await api.get<AccountLimitsView>(`${path}${query}`);
  return body;
}

const summary = ({ limits }: AccountLimitsView) =>
  limits.map(({ of, period, spent, held, left }) => [of.type, of.name, period, spent, held, left]);

/** An account with limits of its own, of a member and of keys. A call of `flat` costs 1 credit. */
async function limitedAccount() {
  await dayThatLasts();
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  await operator.patch(`/api/admin/accounts/${owner.accountId}/`, {
    name: 'Example Inc.',
    spending_limits: [total(100)],
  });
  const member = await memberOf(world, owner.accountId, 'member', { spending_limits: [daily(4)] });
  const key = async (of: Api, body: object) =>
    (await of.post<CreatedKeyView>('/api/keys/', { can_manage: false, ...body })).body;
  const theirs = await key(member, { name: 'theirs', spending_limits: [daily(8)] });
  const app = await key(api, { name: 'app', spending_limit: 10, spending_limits: [total(2)] });
  await key(api, { name: 'idle', spending_limit: 0 });
  await key(api, { name: 'gone', spending_limit: 1, is_active: false });
  for (const value of [theirs.key, app.key]) await (await world.chat(value)).arrayBuffer();
  await world.settled();
  return { ...owner, api, member, app, theirs };
}

t.test('all limits of an account are listed with what is left, the largest used share first', async (t) => {
  const { api, accountId, app, member, theirs } = await limitedAccount();
  const all = await limitsOf(api);
  t.same(summary(all), [
    ['key', 'idle', 'monthly', '0.000000', '0.000000', '0.000000'],
    ['key', 'app', 'total', '1.000000', '0.000000', '1.000000'],
    ['member', all.limits[2]?.of.name, 'daily', '1.000000', '0.000000', '3.000000'],
    ['key', 'theirs', 'daily', '1.000000', '0.000000', '7.000000'],
    ['key', 'app', 'monthly', '1.000000', '0.000000', '9.000000'],
    ['account', 'Example Inc.', 'total', '2.000000', '0.000000', '98.000000'],
  ]);
  t.equal(all.total, 6);
  t.match(all.limits[1], { of: { id: app.id, person_id: null }, credits: 2, resets_at: null });
  t.match(all.limits[2], { of: { id: member.id, person_id: member.id }, resets_at: /T00:00:00.000Z$/ });
  t.match(all.limits[3]?.of, { id: theirs.id, person_id: member.id });
  t.equal(all.limits[5]?.of.id, accountId);
  t.same(await limitsOf(operator, '', `/api/admin/accounts/${accountId}/limits/`), all);
  for (const role of ['billing', 'viewer'] as const) {
    t.same(await limitsOf(await memberOf(world, accountId, role)), all, role);
  }
});

t.test('a list of limits is cut, and filtered by owner and used share', async (t) => {
  const { api } = await limitedAccount();
  const all = await limitsOf(api);
  t.same(await limitsOf(api, '?limit=2'), { limits: all.limits.slice(0, 2), total: 6 });
  t.same(await limitsOf(api, '?of=account'), { limits: all.limits.slice(5), total: 1 });
  t.same(await limitsOf(api, '?of=key&limit=1'), { limits: all.limits.slice(0, 1), total: 4 });
  t.same(await limitsOf(api, '?min_share=0.25'), { limits: all.limits.slice(0, 3), total: 3 });
  for (const query of ['limit=201', 'limit=0', 'of=person', 'min_share=1.1', 'period=daily']) {
    t.equal((await api.get(`/api/account/limits/?${query}`)).error?.code, 'invalid_field', query);
  }
});

t.test('a member sees the limits that bind, and not what the account has spent', async (t) => {
  const { member, accountId } = await limitedAccount();
  const { limits } = await limitsOf(member);
  t.same(
    limits.map(({ of, spent, left }) => [of.type, spent, left]),
    [
      ['member', '1.000000', '3.000000'],
      ['key', '1.000000', '7.000000'],
      ['account', null, null],
    ],
  );
  t.match(limits[2], { credits: 100, held: null });
  t.equal((await limitsOf(member, '?min_share=0.01')).total, 2, 'a filter does not tell it either');
  const elsewhere = apiWith(world, member.cookie, accountId + 1_000_000);
  t.equal((await elsewhere.get('/api/account/limits/')).status, 404);
});

t.test('a key that cannot manage sees the limits that bind it', async (t) => {
  const { app, theirs } = await limitedAccount();
  const seenBy = async ({ key }: CreatedKeyView) => summary(await limitsOf(apiOf(world, key)));
  t.same(await seenBy(app), [
    ['key', 'app', 'total', '1.000000', '0.000000', '1.000000'],
    ['key', 'app', 'monthly', '1.000000', '0.000000', '9.000000'],
    ['account', 'Example Inc.', 'total', null, null, null],
  ]);
  t.match(await seenBy(theirs), [['member'], ['key', 'theirs'], ['account', 'Example Inc.', 'total', null]]);
});

t.test('a call in flight is held of every limit that binds it', async (t) => {
  const { api, theirs } = await limitedAccount();
  const open = world.chat(theirs.key, { messages: [{ role: 'user', content: 'wait' }] });
  await until('the call to be open', async () => {
    const { limits } = await limitsOf(api);
    return limits.some(({ held }) => held !== '0.000000');
  });
  const { limits } = await limitsOf(api);
  t.same(
    limits.filter(({ held }) => held === '1.000000').map(({ of, left }) => [of.type, left]),
    [
      ['member', '3.000000'],
      ['key', '7.000000'],
      ['account', '98.000000'],
    ],
  );
  letGo();
  await (await open).arrayBuffer();
});

t.test('an account without limits has an empty list, and one that is not there has none', async (t) => {
  const { key } = await world.account({ key: { spendingLimit: null } });
  t.same(await limitsOf(apiOf(world, key)), { limits: [], total: 0 });
  t.same(refusalOf(await operator.get('/api/admin/accounts/987654321/limits/')), [
    404,
    'account_not_found',
    null,
  ]);
});
