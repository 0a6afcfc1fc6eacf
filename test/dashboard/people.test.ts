import t from 'tap';
import { browserOf } from '../../src/dashboard/page/format/browser.ts';
import { whatRoleMay } from '../../src/dashboard/page/format/roles.ts';
import { oldAddress } from '../../src/dashboard/page/old-address.ts';
import { entryIn, failureIn, nextIn, secretIn } from '../../src/dashboard/page/session/entry-address.ts';
import { accountsOf, homeOf, type Me, nameOf } from '../../src/dashboard/page/session/me.ts';
import { pagesOf, samePlaceIn } from '../../src/dashboard/page/session/pages.ts';
import {
  operatedScope,
  operatorScope,
  ownScope,
  type Scope,
} from '../../src/dashboard/page/session/scope.ts';
import { ROLES, type Role } from '../../src/domain/roles.ts';

t.test('an entry is found by its path below the page', async (t) => {
  for (const entry of ['sign-in', 'setup', 'invite', 'reset'] as const) t.equal(entryIn(entry), entry);
  for (const path of ['', 'a/1/home', 'invite/', 'invite/x', 'constructor'])
    t.equal(entryIn(path), undefined);
});

t.test('the secret is the whole fragment, but an old address is none', async (t) => {
  t.equal(secretIn('#Zk3_x-9='), 'Zk3_x-9=');
  t.equal(secretIn(''), '');
  t.equal(secretIn('#/keys'), '');
});

t.test('a sign-in leads back to a page of the dashboard, and nowhere else', async (t) => {
  const here = new URL('https://gateway.example.com/ai/dashboard/');
  const next = (path: string) => nextIn(`?next=${encodeURIComponent(path)}`, here).href;
  t.equal(next('/a/5/keys?times=utc'), `${here}a/5/keys?times=utc`);
  t.equal(next('/#/keys/12'), `${here}#/keys/12`);
  t.equal(nextIn('', here), here);
  for (const path of [
    '//evil.example.com',
    '/\\evil.example.com',
    'https://evil.example.com/',
    'javascript:alert(1)',
    'a/5/keys',
    '/../../api/account/',
    '/..//evil.example.com',
    '',
  ]) {
    t.equal(next(path), here.href, path);
  }
});

t.test('a failure of a provider is shown in words, an unknown one by its code', async (t) => {
  t.equal(failureIn(''), undefined);
  t.match(failureIn('?error=email_taken'), /exists already/);
  t.match(failureIn('?error=provider_away'), /failed \(provider_away\)/);
  t.match(failureIn('?error=constructor'), /failed \(constructor\)/, 'not what objects inherit');
  t.notMatch(failureIn('?error=%3Cb%3E%20call%20me'), /call me/, 'no text of strangers');
});

/** A person with memberships of accounts 1, 2, …, whose roles are given; one in brackets is inactive. */
function person(isOperator: boolean, ...roles: readonly (Role | readonly [Role])[]): Me {
  const at = '2026-11-29T00:00:00.000Z';
  return {
    person: {
      id: 1,
      email: 'ann@example.com',
      name: 'Ann',
      is_operator: isOperator,
      is_active: true,
      created_at: at,
      last_seen_at: null,
    },
    key: null,
    is_operator: isOperator,
    memberships: roles.map((given, index) => ({
      account: { id: index + 1, name: `Account ${index + 1}` },
      role: typeof given === 'string' ? given : given[0],
      is_active: typeof given === 'string',
      can_create_keys: true,
      spending_limits: [],
      limits: [],
      active_keys: 0,
    })),
  };
}

function keySession(canManage: boolean): Me {
  const key = { id: 12, name: 'App', can_manage: canManage };
  return { person: null, key, is_operator: false, memberships: [], accountId: 7 };
}

const TOKEN: Me = { person: null, key: null, is_operator: true, memberships: [] };

function placesOf(scope: Scope | undefined): readonly string[] {
  return scope ? pagesOf(scope).map(({ place }) => place) : [];
}

const OF_ACCOUNT = [
  'home',
  'requests',
  'usage',
  'keys',
  'models',
  'members',
  'limits',
  'billing',
  'alerts',
  'audit',
  'settings',
];

t.test('each role has the pages that it may read', async (t) => {
  const without = (...places: readonly string[]) => OF_ACCOUNT.filter((place) => !places.includes(place));
  const pages: Readonly<Record<Role, readonly string[]>> = {
    owner: OF_ACCOUNT,
    admin: OF_ACCOUNT,
    viewer: OF_ACCOUNT,
    billing: without('keys', 'members', 'audit'),
    member: ['home', 'requests', 'usage', 'keys', 'models', 'limits'],
  };
  for (const role of ROLES) t.same(placesOf(ownScope(person(false, role), 1)), pages[role], role);
});

t.test('a key has its own pages, a managing key those of an admin', async (t) => {
  t.same(placesOf(ownScope(keySession(true), 7)), OF_ACCOUNT);
  t.same(placesOf(ownScope(keySession(false), 7)), ['home', 'requests', 'usage', 'keys/12', 'models']);
  t.equal(ownScope(keySession(true), 8), undefined, 'no other account');
});

t.test('a member’s keys are theirs, and the pages are named so', async (t) => {
  const names = (me: Me, id: number) => {
    const scope = ownScope(me, id);
    return scope && pagesOf(scope).map(({ name }) => name);
  };
  t.ok(names(person(false, 'member'), 1)?.includes('My keys'));
  t.ok(names(person(false, 'owner'), 1)?.includes('Keys'));
  t.ok(names(keySession(false), 7)?.includes('This key'));
});

t.test('an operator sees all accounts, and each as its own pages but its models', async (t) => {
  t.same(placesOf(operatorScope(TOKEN)), [
    'home',
    'accounts',
    'people',
    'requests',
    'usage',
    'models',
    'providers',
    'health',
    'audit',
  ]);
  t.same(
    placesOf(operatedScope(TOKEN, 5)),
    OF_ACCOUNT.filter((place) => place !== 'models'),
  );
  t.equal(operatorScope(person(false, 'owner')), undefined);
  t.equal(operatedScope(person(false, 'owner'), 1), undefined);
});

t.test('a scope says what the session may do, and how the API is asked', async (t) => {
  const member = ownScope(person(false, 'member'), 1);
  t.match(member, { path: '/a/1', api: '/api/account/', accountHeader: 1, givenRoles: [] });
  t.equal(member?.reach('change keys'), 'own');
  t.notOk(member?.can('read members'));
  const key = ownScope(keySession(false), 7);
  t.equal(key?.accountHeader, undefined, 'the session of a key has one account');
  t.notOk(key?.can('change keys'));
  t.notOk(key?.can('leave the account'), 'a key is nobody');
  t.ok(ownScope(keySession(true), 7)?.can('change members'));
  const operated = operatedScope(TOKEN, 5);
  t.match(operated, { path: '/operator/accounts/5', api: '/api/admin/accounts/5/' });
  t.ok(operated?.can('change keys'));
  t.notOk(operated?.can('read the webhook secret'));
  t.equal(ownScope(person(false, ['owner']), 1), undefined, 'an inactive membership has no pages');
});

t.test('an owner gives every role, an admin those below', async (t) => {
  const given = (me: Me, id: number) => ownScope(me, id)?.givenRoles;
  t.same(given(person(false, 'owner'), 1), ROLES);
  t.same(given(person(false, 'admin'), 1), ['billing', 'member', 'viewer']);
  t.same(given(keySession(true), 7), ['billing', 'member', 'viewer']);
  for (const role of ['billing', 'member', 'viewer'] as const)
    t.same(given(person(false, role), 1), [], role);
  t.same(given(keySession(false), 7), []);
});

t.test('another account shows the same page if it has it', async (t) => {
  const me = person(true, 'owner', 'member');
  const [one, two, all] = [ownScope(me, 1), ownScope(me, 2), operatorScope(me)] as [Scope, Scope, Scope];
  t.equal(samePlaceIn(two, '/a/1/requests', one), '/a/2/requests');
  t.equal(samePlaceIn(two, '/a/1/keys/12', one), '/a/2/keys', 'not the key of the other account');
  t.equal(samePlaceIn(two, '/a/1/members', one), '/a/2/home', 'a member has no such page');
  t.equal(samePlaceIn(all, '/a/1/usage', one), '/operator/usage');
  t.equal(samePlaceIn(one, '/operator/accounts/5/requests', operatedScope(me, 5)), '/a/1/requests');
  t.equal(samePlaceIn(one, '/operator/accounts', all), '/a/1/home');
  t.equal(samePlaceIn(one, '/me', one), '/a/1/home');
});

t.test('a session begins with all accounts, the first account, or the person', async (t) => {
  t.equal(homeOf(person(true, 'owner')), '/operator/home');
  t.equal(homeOf(person(false, ['owner'], 'member')), '/a/2/home', 'not an inactive membership');
  t.equal(homeOf(person(false)), '/me');
  t.equal(homeOf(keySession(false)), '/a/7/home');
  t.equal(homeOf(TOKEN), '/operator/home');
  t.same(accountsOf(TOKEN), []);
});

t.test('the page names who is signed in', async (t) => {
  t.equal(nameOf(person(false)), 'Ann');
  t.equal(nameOf(keySession(false)), 'App');
  t.equal(nameOf(TOKEN), 'Operator');
});

t.test('addresses of before the page had paths lead to its paths', async (t) => {
  const owner = person(false, 'owner');
  const both = person(true, 'owner');
  for (const [hash, me, path] of [
    ['', owner, undefined],
    ['#/', owner, undefined],
    ['#secret', owner, undefined],
    ['#/home', owner, '/a/1/home'],
    ['#/keys/12?times=utc', owner, '/a/1/keys/12?times=utc'],
    ['#/requests?range=7d&request=req_1', owner, '/a/1/requests?range=7d&call=req_1'],
    ['#/people', owner, '/a/1/members'],
    ['#/explain/12?model=flat', owner, '/a/1/requests?model=flat'],
    ['#/me', both, '/me'],
    ['#/accounts/5/explain', TOKEN, '/operator/accounts/5/requests'],
    ['#/accounts/5', both, '/operator/accounts/5'],
    ['#/accounts/new', both, '/operator/accounts/new'],
    ['#/providers', both, '/operator/providers'],
    ['#/usage', both, '/a/1/usage'],
    ['#/usage', TOKEN, '/operator/usage'],
    ['#/keys', person(false), undefined],
  ] as const) {
    t.equal(oldAddress(hash, me), path, hash);
  }
});

t.test('an invitation says what its role may', async (t) => {
  t.same(whatRoleMay('member'), ['create your own keys', 'see your own calls and what they cost']);
  t.ok(whatRoleMay('owner').includes('invite and change members'));
  t.notOk(whatRoleMay('viewer').includes('create and change all keys'));
  for (const role of ROLES) t.ok(whatRoleMay(role).length > 0, role);
});

t.test('a session is named by its browser and system', async (t) => {
  const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
  for (const [agent, name] of [
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome}`, 'Chrome on Linux'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/156.0.0.0`, 'Edge on Windows'],
    ['Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) Version/26.0 Safari/604.1', 'Safari on iPhone'],
    ['curl/8.5.0', 'curl'],
    ['', 'Unknown'],
    [null, 'Unknown'],
  ] as const) {
    t.equal(browserOf(agent), name);
  }
});
