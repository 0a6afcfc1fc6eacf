import t from 'tap';
import type { AccountView } from '../../../src/api/account/account-view.ts';
import type { CreatedKeyView } from '../../../src/api/keys/key-view.ts';
import type { MemberListView, MemberView } from '../../../src/api/people/member-view.ts';
import { ROLES } from '../../../src/domain/roles.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import { apiWith, invited, memberOf, send } from '../../helper/clients/people.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const LIST = '/api/account/members/';
const NOT_PERMITTED = [403, 'not_permitted', null];

const path = ({ id }: { readonly id: number }) => `${LIST}${id}/`;

/** An account with a managing key and an owner. */
async function owned() {
  const account = await world.account();
  return {
    ...account,
    keys: apiOf(world, account.key),
    owner: await memberOf(world, account.accountId, 'owner'),
  };
}

t.test('members are listed for owners, admins, viewers, managing keys and the operator', async (t) => {
  const { accountId, keys, owner } = await owned();
  const limits = [{ period: 'monthly', credits: 2 }];
  const member = await memberOf(world, accountId, 'member', { spending_limits: limits });
  await member.post('/api/keys/', { name: 'mine' });
  const { body } = await owner.get<MemberListView>(LIST);
  t.match(body.members, [
    { person: { id: owner.id, email: owner.email }, role: 'owner', is_active: true, active_keys: 0 },
    {
      person: { id: member.id, email: member.email },
      role: 'member',
      can_create_keys: true,
      spending_limits: limits,
      limits: [{ of: 'member', period: 'monthly', credits: 2, spent: '0.000000', remaining: '2.000000' }],
      active_keys: 1,
    },
  ]);
  const admin = await memberOf(world, accountId, 'admin');
  const viewer = await memberOf(world, accountId, 'viewer');
  for (const reader of [keys, admin, viewer]) {
    t.equal((await reader.get<MemberListView>(LIST)).body.members.length, 4);
  }
  const all = await operator.get<MemberListView>(`/api/admin/accounts/${accountId}/members/`);
  t.equal(all.body.members.length, 4);
  const billing = await memberOf(world, accountId, 'billing');
  for (const other of [billing, member]) {
    const refused = await other.get(LIST);
    t.same(refusalOf(refused), NOT_PERMITTED);
    t.match(refused.error?.message, /owner, admin, viewer/);
  }
  t.same(refusalOf(await operator.get('/api/admin/accounts/999999/members/')), [
    404,
    'account_not_found',
    null,
  ]);
});

t.test('an owner changes everybody else, an admin and a managing key the lower roles', async (t) => {
  const { accountId, keys, owner } = await owned();
  const admin = await memberOf(world, accountId, 'admin');
  const other = await memberOf(world, accountId, 'admin');
  const member = await memberOf(world, accountId, 'member');
  const changed = await owner.patch<MemberView>(path(member), {
    role: 'billing',
    can_create_keys: false,
    spending_limits: [{ period: '5h', credits: 1 }],
  });
  t.match(changed, { status: 200, body: { role: 'billing', can_create_keys: false, is_active: true } });
  t.match(changed.body.limits, [{ of: 'member', period: '5h', resets_at: null }]);
  for (const lower of [admin, keys]) {
    t.equal((await lower.patch(path(member), { role: 'viewer' })).status, 200);
    for (const role of ['owner', 'admin']) {
      t.same(refusalOf(await lower.patch(path(member), { role })), NOT_PERMITTED, `gives ${role}`);
    }
    for (const high of [other, owner]) {
      t.same(refusalOf(await lower.patch(path(high), { is_active: false })), NOT_PERMITTED);
      t.same(refusalOf(await lower.delete(path(high))), NOT_PERMITTED);
    }
  }
  t.equal((await owner.patch<MemberView>(path(other), { role: 'owner' })).body.role, 'owner');
  for (const role of ['member', 'billing', 'viewer'] as const) {
    const low = await memberOf(world, accountId, role);
    t.same(refusalOf(await low.patch(path(member), { role: 'member' })), NOT_PERMITTED, role);
    t.same(refusalOf(await low.delete(path(member))), NOT_PERMITTED, role);
  }
  t.same(refusalOf(await owner.patch(`${LIST}999999/`, {})), [404, 'member_not_found', null]);
  t.same(refusalOf(await owner.delete(`${LIST}x/`)), [404, 'member_not_found', null]);
  t.same(refusalOf(await owner.patch(path(member), { role: 'king' })), [400, 'invalid_field', 'role']);
});

t.test('nobody changes their own membership, and everybody can leave', async (t) => {
  const { accountId, owner } = await owned();
  for (const change of [
    { role: 'viewer' },
    { is_active: false },
    { can_create_keys: true },
    { spending_limits: [] },
  ]) {
    t.same(refusalOf(await owner.patch(path(owner), change)), NOT_PERMITTED, JSON.stringify(change));
  }
  for (const role of ROLES) {
    const leaver = await memberOf(world, accountId, role);
    t.same((await leaver.delete(path(leaver))).body, { deleted: true }, role);
    t.equal(
      (await leaver.get('/api/account/usage/')).status,
      401,
      'the session ended with the last membership',
    );
  }
});

t.test('the last active owner stays, as the membership and the person are active', async (t) => {
  const { accountId, owner } = await owned();
  const LAST = [409, 'last_owner', null];
  t.same(refusalOf(await owner.delete(path(owner))), LAST);
  const second = await memberOf(world, accountId, 'owner');
  t.equal((await owner.patch(path(second), { is_active: false })).status, 200);
  t.same(refusalOf(await owner.delete(path(owner))), LAST, 'an inactive membership is none');
  t.equal((await owner.patch(path(second), { is_active: true })).status, 200);
  await world.book.updatePerson(second.id, { isActive: false }, BY, Date.now());
  t.same(refusalOf(await owner.delete(path(owner))), LAST, 'nor is one of an inactive person');
  t.equal((await owner.patch(path(second), { role: 'viewer' })).status, 200, 'who can be changed');
  const third = await memberOf(world, accountId, 'owner');
  const [one, two] = await Promise.all([owner.delete(path(third)), third.delete(path(owner))]);
  t.same(
    [one.status, two.status].filter((status) => status === 200).length,
    1,
    'owners who remove each other',
  );
});

const BY = { type: 'operator', id: null, ip: null, requestId: null } as const;

t.test('a membership that is deactivated or ends takes its keys and its last sessions with it', async (t) => {
  const { accountId, keys, owner } = await owned();
  const elsewhere = await world.account();
  const member = await memberOf(world, accountId, 'member');
  const secret = await invited(world, elsewhere.accountId, 'member');
  t.equal((await member.post('/api/invitations/accept/', { secret })).status, 200);
  const here = apiWith(world, member.cookie, accountId);
  const there = apiWith(world, member.cookie, elsewhere.accountId);
  const { body: key } = await here.post<CreatedKeyView>('/api/keys/', { name: 'here' });
  const { body: kept } = await there.post<CreatedKeyView>('/api/keys/', { name: 'there' });
  t.equal((await world.chat(key.key)).status, 200);
  const off = await owner.patch<MemberView>(path(member), { is_active: false });
  t.match(off.body, { is_active: false, active_keys: 0 });
  t.equal((await world.chat(key.key)).status, 401);
  t.equal((await world.chat(kept.key)).status, 200, 'keys of other accounts stay');
  t.same(refusalOf(await here.get('/api/keys/')), [404, 'account_not_found', null]);
  t.equal((await there.get('/api/keys/')).status, 200, 'the session stays with another membership');
  const activation = await keys.patch(`/api/keys/${key.id}/`, { is_active: true });
  t.same(refusalOf(activation), [409, 'member_inactive', null]);
  await owner.patch(path(member), { is_active: true });
  t.equal((await world.chat(key.key)).status, 401, 'keys stay inactive when the member returns');
  t.equal((await here.patch(`/api/keys/${key.id}/`, { is_active: true })).status, 200);
  t.equal((await world.chat(key.key)).status, 200);
  t.equal((await owner.delete(path(member))).status, 200);
  t.equal((await world.chat(key.key)).status, 401);
  t.same(refusalOf(await keys.patch(`/api/keys/${key.id}/`, { is_active: true })), [
    409,
    'member_inactive',
    null,
  ]);
  t.equal((await there.delete(path(member))).status, 200);
  t.equal((await there.get('/api/keys/')).status, 401, 'the last membership ends the session');
});

t.test('changes are entries of the audit, and refused ones write none of their own', async (t) => {
  const { accountId, owner } = await owned();
  const member = await memberOf(world, accountId, 'member');
  await owner.patch(path(member), { role: 'viewer' });
  await owner.patch(path(member), { role: 'viewer' });
  await owner.delete(path(member));
  const entries = await world.book.auditEntries({ accountId, limit: 10 });
  const of = (action: string) => entries.filter((entry) => entry.action === action);
  t.match(of('member.update'), [
    {
      actor: { type: 'person', id: owner.id },
      target: { type: 'member', id: String(member.id) },
      before: { role: 'member' },
      after: { role: 'viewer' },
    },
  ]);
  t.equal(of('member.update').length, 1, 'a change without a difference is none');
  t.match(of('member.remove'), [{ target: { id: String(member.id) }, before: { role: 'viewer' } }]);
});

t.test(
  'an account has a name: its e-mail address, until owner, admin, managing key or operator set one',
  async (t) => {
    const { accountId, keys, owner } = await owned();
    const { body: before } = await keys.get<AccountView>('/api/account/');
    t.equal(before.name, before.email);
    const admin = await memberOf(world, accountId, 'admin');
    for (const [index, one] of [owner, admin, keys].entries()) {
      const { body } = await one.patch<AccountView>('/api/account/', { name: ` Name ${index} ` });
      t.equal(body.name, `Name ${index}`);
    }
    const billing = await memberOf(world, accountId, 'billing');
    t.same(refusalOf(await billing.patch('/api/account/', { name: 'x' })), NOT_PERMITTED);
    const threshold = await billing.patch<AccountView>('/api/account/', { alert_threshold: 7 });
    t.match(threshold, {
      status: 200,
      body: { alert_threshold: 7, name: 'Name 2', webhook_secret: undefined },
    });
    for (const name of ['', 'x'.repeat(101), null]) {
      t.same(refusalOf(await keys.patch('/api/account/', { name })), [400, 'invalid_field', 'name']);
    }
    const renamed = await operator.patch<AccountView>(`/api/admin/accounts/${accountId}/`, {
      name: 'By operator',
    });
    t.equal(renamed.body.name, 'By operator');
    const made = await operator.post<{ account: AccountView }>('/api/admin/accounts/', {
      email: 'named@example.com',
      name: 'Named',
    });
    t.equal(made.body.account.name, 'Named');
  },
);

t.test('a request with a session names its account unless the person has one', async (t) => {
  const { accountId, owner } = await owned();
  const other = await world.account();
  const secret = await invited(world, other.accountId, 'viewer');
  t.equal((await owner.post('/api/invitations/accept/', { secret })).status, 200);
  t.same(refusalOf(await owner.get(LIST)), [400, 'account_required', null]);
  const named = apiWith(world, owner.cookie, accountId);
  t.equal((await named.get(LIST)).status, 200);
  const { cookie } = owner;
  const cross = { cookie, 'tollgate-account': String(accountId), 'sec-fetch-site': 'cross-site' };
  const refused = await send(world, 'DELETE', path(owner), undefined, cross);
  t.same(refusalOf(refused), [403, 'cross_site', null]);
});
