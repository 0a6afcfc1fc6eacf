import t from 'tap';
import type { ShownInvitationView } from '../../../src/api/people/acceptance-view.ts';
import type { CreatedInvitationView, InvitationListView } from '../../../src/api/people/invitation-view.ts';
import type { MemberListView } from '../../../src/api/people/member-view.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import {
  apiWith,
  cookieOf,
  invited,
  memberOf,
  PASSWORD,
  secretOf,
  send,
} from '../../helper/clients/people.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const LIST = '/api/account/invitations/';
const LOOK = '/api/invitations/look/';
const ACCEPT = '/api/invitations/accept/';
const GONE = [410, 'invitation_gone', null];
const DAY_MS = 86_400_000;

let people = 0;
/** Body of an acceptance by a new person. */
const newcomer = (secret: string, more: object = {}) => ({
  secret,
  email: `newcomer${people++}@example.com`,
  name: 'New',
  password: PASSWORD,
  ...more,
});

t.test(
  'an invitation has a link that is shown once, is listed while open, and can be withdrawn',
  async (t) => {
    const { accountId } = await world.account();
    const owner = await memberOf(world, accountId, 'owner');
    const sent = {
      role: 'member',
      email: 'Ada@example.com',
      name: 'Ada',
      can_create_keys: false,
      spending_limits: [{ period: 'daily', credits: 3 }],
    };
    const { status, body } = await owner.post<CreatedInvitationView>(LIST, sent);
    t.equal(status, 201);
    t.match(body, { ...sent, mailed: false });
    t.equal(Date.parse(body.expires_at) - Date.parse(body.created_at), 7 * DAY_MS);
    t.match(body.link, new RegExp(`^${world.url}/dashboard/invite#[\\w-]{43}$`));
    const { link, mailed, ...listed } = body;
    t.same((await owner.get<InvitationListView>(LIST)).body.invitations, [listed]);
    const secret = secretOf(link);
    const look = await send<ShownInvitationView>(world, 'POST', LOOK, { secret });
    t.match(look.body, {
      account: { id: accountId },
      role: 'member',
      email: 'Ada@example.com',
      expires_at: body.expires_at,
    });
    t.same((await owner.delete(`${LIST}${body.id}/`)).body, { deleted: true });
    t.same(refusalOf(await owner.delete(`${LIST}${body.id}/`)), [404, 'invitation_not_found', null]);
    t.same((await owner.get<InvitationListView>(LIST)).body.invitations, []);
    t.same(refusalOf(await send(world, 'POST', LOOK, { secret })), GONE);
    const late = await send(world, 'POST', ACCEPT, newcomer(secret, { email: 'ada@example.com' }));
    t.same(refusalOf(late), GONE);
    t.same(await world.book.invitations(accountId, Date.parse(body.expires_at)), []);
  },
);

t.test('only an owner or the operator invites owners and admins', async (t) => {
  const { accountId, key } = await world.account();
  const admin = await memberOf(world, accountId, 'admin');
  const owner = await memberOf(world, accountId, 'owner');
  for (const lower of [admin, apiOf(world, key)]) {
    for (const role of ['owner', 'admin']) {
      t.same(refusalOf(await lower.post(LIST, { role })), [403, 'not_permitted', null]);
    }
    for (const role of ['billing', 'member', 'viewer']) {
      t.equal((await lower.post(LIST, { role })).status, 201);
    }
  }
  const { body } = await owner.post<CreatedInvitationView>(LIST, { role: 'admin' });
  t.match(body, { email: null, name: null, can_create_keys: true, spending_limits: [] });
  t.same(refusalOf(await admin.delete(`${LIST}${body.id}/`)), [403, 'not_permitted', null]);
  for (const role of ['billing', 'member', 'viewer'] as const) {
    const low = await memberOf(world, accountId, role);
    t.same(refusalOf(await low.post(LIST, { role: 'viewer' })), [403, 'not_permitted', null], role);
    t.equal((await low.get(LIST)).status, role === 'viewer' ? 200 : 403);
  }
  t.same(refusalOf(await owner.post(LIST, {})), [400, 'invalid_field', 'role']);
  t.same(refusalOf(await owner.post(LIST, { role: 'member', email: 'x' })), [400, 'invalid_field', 'email']);
});

t.test('a new person accepts with e-mail, name and password, and is signed in', async (t) => {
  const { accountId } = await world.account();
  const secret = await invited(world, accountId, 'viewer');
  const body = newcomer(secret);
  const accepted = await send(world, 'POST', ACCEPT, body);
  t.match(accepted, {
    status: 201,
    body: {
      person: { email: body.email, name: 'New', is_operator: false },
      memberships: [{ account: { id: accountId }, role: 'viewer' }],
    },
  });
  t.match(accepted.headers.get('set-cookie'), /HttpOnly/);
  const person = apiWith(world, cookieOf(accepted));
  const { members } = (await person.get<MemberListView>('/api/account/members/')).body;
  t.match(members, [{ person: { email: body.email, name: 'New' }, role: 'viewer' }]);
  t.same(refusalOf(await send(world, 'POST', ACCEPT, newcomer(secret))), GONE, 'used once');
  const again = await send(
    world,
    'POST',
    ACCEPT,
    newcomer(await invited(world, accountId, 'viewer'), {
      email: body.email.toUpperCase(),
    }),
  );
  t.same(refusalOf(again), [409, 'email_taken', 'email']);
});

t.test('what a new person must send is said, and strangers pages cannot send it', async (t) => {
  const { accountId } = await world.account();
  const secret = await invited(world, accountId, 'viewer');
  for (const [field, value] of [
    ['email', undefined],
    ['email', 'x'],
    ['name', undefined],
    ['password', undefined],
    ['password', 'ninechars'],
    ['password', 'x'.repeat(201)],
    ['secret', undefined],
    ['role', 'owner'],
  ] as const) {
    const refused = await send(world, 'POST', ACCEPT, newcomer(secret, { [field]: value }));
    t.same(refusalOf(refused), [400, 'invalid_field', field]);
  }
  t.same(refusalOf(await send(world, 'POST', ACCEPT, { secret })), [401, 'not_signed_in', null]);
  const other = { 'sec-fetch-site': 'cross-site' };
  t.same(refusalOf(await send(world, 'POST', ACCEPT, newcomer(secret), other)), [403, 'cross_site', null]);
  const plain = { 'content-type': 'text/plain' };
  t.equal((await send(world, 'POST', ACCEPT, newcomer(secret), plain)).status, 415);
  t.same(refusalOf(await send(world, 'POST', ACCEPT, newcomer('unknown'))), GONE);
  t.equal((await send(world, 'POST', ACCEPT, newcomer(secret))).status, 201, 'none of which used it');
});

t.test('a signed-in person accepts with the secret alone', async (t) => {
  const [first, second] = [await world.account(), await world.account()];
  const person = await memberOf(world, first.accountId, 'member');
  const secret = await invited(world, second.accountId, 'billing');
  for (const field of ['email', 'name', 'password'] as const) {
    const refused = await person.post(ACCEPT, { secret, [field]: newcomer(secret)[field] });
    t.same(refusalOf(refused), [400, 'invalid_field', field]);
  }
  t.match(await person.post(ACCEPT, { secret }), {
    status: 200,
    body: { person: { id: person.id }, memberships: [{ role: 'member' }, { role: 'billing' }] },
  });
  t.same(refusalOf(await person.post(ACCEPT, { secret })), GONE);
  t.equal((await apiWith(world, person.cookie, second.accountId).get('/api/account/')).status, 200);
});

t.test('a member, a deactivated one too, cannot accept: only PATCH brings a membership back', async (t) => {
  const { accountId, key } = await world.account();
  const elsewhere = await world.account();
  const person = await memberOf(world, accountId, 'member');
  await person.post(ACCEPT, { secret: await invited(world, elsewhere.accountId, 'viewer') });
  const secret = await invited(world, accountId, 'viewer');
  const ALREADY = [409, 'already_member', null];
  t.same(refusalOf(await person.post(ACCEPT, { secret })), ALREADY);
  await apiOf(world, key).patch(`/api/account/members/${person.id}/`, { is_active: false });
  t.same(refusalOf(await person.post(ACCEPT, { secret })), ALREADY);
  t.equal((await send(world, 'POST', LOOK, { secret })).status, 200, 'the invitation stays open for another');
  await apiOf(world, key).delete(`/api/account/members/${person.id}/`);
  t.equal((await person.post(ACCEPT, { secret })).status, 200, 'who was removed can be invited again');
});

t.test('an invitation with an e-mail address is accepted only under it', async (t) => {
  const { accountId } = await world.account();
  const elsewhere = await world.account();
  const person = await memberOf(world, elsewhere.accountId, 'member');
  const WRONG = [403, 'invitation_email', 'email'];
  const theirs = await invited(world, accountId, 'viewer', { email: 'zoé@example.com' });
  t.same(refusalOf(await person.post(ACCEPT, { secret: theirs })), WRONG);
  t.same(refusalOf(await send(world, 'POST', ACCEPT, newcomer(theirs))), WRONG);
  const same = newcomer(theirs, { email: 'ZOE\u0301@example.com' });
  t.equal((await send(world, 'POST', ACCEPT, same)).status, 201, 'in any case and composition');
  const own = await invited(world, accountId, 'viewer', { email: person.email.toUpperCase() });
  t.equal((await person.post(ACCEPT, { secret: own })).status, 200);
});

t.test('of many who accept one invitation at once one succeeds', async (t) => {
  const { accountId } = await world.account();
  const secret = await invited(world, accountId, 'viewer');
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => send(world, 'POST', ACCEPT, newcomer(secret))),
  );
  t.same(answers.map(({ status }) => status).sort(), [201, 410, 410, 410]);
  t.equal((await world.book.members(accountId)).length, 1);
});

t.test('the operator invites an owner with the account, or later', async (t) => {
  const { body } = await operator.post<{ account: { id: number }; invitation_link: string; mailed: boolean }>(
    '/api/admin/accounts/',
    { email: 'account@example.com', owner_email: 'first-owner@example.com' },
  );
  t.equal(body.mailed, false);
  const secret = secretOf(body.invitation_link);
  const owner = await send(world, 'POST', ACCEPT, newcomer(secret, { email: 'first-owner@example.com' }));
  t.match(owner, { status: 201, body: { memberships: [{ role: 'owner' }] } });
  const path = `/api/admin/accounts/${body.account.id}/invitations/`;
  const later = await operator.post<CreatedInvitationView>(path, { role: 'owner' });
  t.equal(later.status, 201);
  t.match((await operator.get<InvitationListView>(path)).body, { invitations: [{ id: later.body.id }] });
  t.same((await operator.delete(`${path}${later.body.id}/`)).body, { deleted: true });
  t.same(refusalOf(await operator.delete(`${path}${later.body.id}/`)), [404, 'invitation_not_found', null]);
  const none = '/api/admin/accounts/999999/invitations/';
  t.same(refusalOf(await operator.post(none, { role: 'owner' })), [404, 'account_not_found', null]);
  const without = await operator.post('/api/admin/accounts/', { email: 'without@example.com' });
  t.notOk('invitation_link' in (without.body as object));
  const taken = await operator.post('/api/admin/accounts/', {
    email: 'without@example.com',
    owner_email: 'x@example.com',
  });
  t.same(refusalOf(taken), [409, 'email_taken', 'email']);
});

t.test('links have scheme and host as a trusted proxy says', async (t) => {
  const { accountId, key } = await world.account();
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'ai.example.com, inner' };
  const { body } = await apiOf(world, key).post<CreatedInvitationView>(LIST, { role: 'viewer' }, headers);
  t.match(body.link, /^https:\/\/ai\.example\.com\/dashboard\/invite#/);
  t.equal(body.id > 0 && accountId > 0, true);
});

t.test('the audit has invitations and acceptances, without secrets', async (t) => {
  const { accountId, key, keyId } = await world.account();
  const { body } = await apiOf(world, key).post<CreatedInvitationView>(LIST, { role: 'viewer' });
  await send(world, 'POST', ACCEPT, newcomer(secretOf(body.link)));
  const entries = await world.book.auditEntries({ accountId, limit: 2 });
  const [made] = await world.book.auditEntries({ action: 'person.create', limit: 1 });
  t.match(made, { actor: { type: 'person', id: entries[0]?.actor.id }, after: { name: 'New' } });
  const target = { type: 'invitation', id: String(body.id) };
  t.match(entries, [
    { action: 'invitation.accept', actor: { type: 'person' }, target, after: { role: 'viewer' } },
    { action: 'invitation.create', actor: { type: 'key', id: keyId }, target, after: { role: 'viewer' } },
  ]);
  t.notMatch(JSON.stringify(entries), secretOf(body.link));
});

t.test(
  'addresses of a provider take no invitation of anyone with a password, and one of theirs',
  async (t) => {
    const provider = {
      name: 'company',
      issuer: 'https://login.example.com',
      clientId: 'id',
      clientSecret: undefined,
      scopes: 'openid email profile',
      domains: ['corp.example.com'],
      roleClaim: undefined,
      roles: [],
    };
    const config = { people: { passwords: true, auditDays: 400, oidc: [provider] } };
    const place = await startGatewayInProcess(t, { config });
    const { accountId } = await place.account();
    const email = 'Grace@CORP.example.com';
    const open = newcomer(await invited(place, accountId, 'viewer'), { email });
    t.same(refusalOf(await send(place, 'POST', ACCEPT, open)), [403, 'use_provider', null]);
    const theirs = newcomer(await invited(place, accountId, 'viewer', { email }), { email });
    t.equal((await send(place, 'POST', ACCEPT, theirs)).status, 201);
  },
);
