import t from 'tap';
import { credentialHeaders } from '../../src/dashboard/page/api/credentials.ts';
import { entryIn, providerFailure, secretIn } from '../../src/dashboard/page/entry.ts';
import {
  can,
  linkedOf,
  type PageRole,
  placesOf,
  rolesGivenBy,
  seesKeys,
} from '../../src/dashboard/page/session/may.ts';
import { type SignedIn, viewOf, viewsOf } from '../../src/dashboard/page/session/person.ts';

t.test('an entry is found by the end of its path, below a path of a proxy too', async (t) => {
  for (const [path, entry] of [
    ['/dashboard/', undefined],
    ['/dashboard/sign-in', 'sign-in'],
    ['/dashboard/setup', 'setup'],
    ['/ai/dashboard/invite', 'invite'],
    ['/dashboard/reset', 'reset'],
    ['/invite/dashboard/', undefined],
  ] as const) {
    t.equal(entryIn(path), entry, path);
  }
});

t.test('the secret is the whole fragment, but a route is none', async (t) => {
  t.equal(secretIn('#Zk3_x-9='), 'Zk3_x-9=');
  t.equal(secretIn(''), '');
  t.equal(secretIn('#/keys'), '');
});

t.test('a failure of a provider is shown in words, an unknown one by its code', async (t) => {
  t.equal(providerFailure(''), undefined);
  t.match(providerFailure('?error=email_taken'), /exists already/);
  t.match(providerFailure('?error=provider_away'), /failed \(provider_away\)/);
  t.match(providerFailure('?error=constructor'), /failed \(constructor\)/, 'not what objects inherit');
  t.notMatch(providerFailure('?error=%3Cb%3E%20call%20me'), /call me/, 'no text of strangers');
});

t.test('a token goes alone; a person has the account and, for a change, the content type', async (t) => {
  const key = { token: 'sk', accountId: undefined };
  const person = { token: undefined, accountId: 7 };
  const json = { 'content-type': 'application/json' };
  t.same(credentialHeaders(key, 'GET', false), { authorization: 'Bearer sk' });
  t.same(credentialHeaders(key, 'DELETE', false), { authorization: 'Bearer sk' });
  t.same(credentialHeaders(key, 'POST', true), { authorization: 'Bearer sk', ...json });
  t.same(credentialHeaders(person, 'GET', false), { 'tollgate-account': '7' });
  t.same(credentialHeaders(person, 'DELETE', false), { 'tollgate-account': '7', ...json });
  t.same(credentialHeaders(person, 'PATCH', true), { 'tollgate-account': '7', ...json });
  t.same(credentialHeaders({ token: undefined, accountId: undefined }, 'POST', false), json);
});

t.test('each role has the pages that it may read', async (t) => {
  const all = ['home', 'requests', 'usage', 'keys', 'models', 'billing', 'alerts', 'people'];
  const pages: readonly (readonly [PageRole, readonly string[]])[] = [
    ['owner', all],
    ['admin', all],
    ['viewer', all],
    ['billing', ['home', 'requests', 'usage', 'models', 'billing', 'alerts']],
    ['member', ['home', 'requests', 'usage', 'keys', 'models']],
    ['key', ['home', 'requests', 'usage', 'models']],
    ['operator', ['home', 'accounts', 'requests', 'usage', 'models', 'providers', 'health']],
    ['person', ['me']],
  ];
  for (const [role, places] of pages) t.same(placesOf(role, true), places, role);
  t.notOk(placesOf('owner', false).includes('models'), 'not without a catalog');
  t.same(linkedOf('owner', true), ['explain', 'me']);
  t.same(linkedOf('admin', false), ['explain'], 'a managing key is no person');
  t.same(linkedOf('billing', true), ['me']);
  t.same(linkedOf('key', false), ['keys']);
});

t.test('nobody but the roles of an account is allowed what they are', async (t) => {
  t.ok(can('member', 'change keys'));
  t.notOk(can('viewer', 'change keys'));
  t.ok(can('billing', 'change the threshold'));
  t.notOk(can('operator', 'change keys'));
  t.notOk(can('key', 'read keys'));
  t.ok(seesKeys('key'), 'itself');
  t.notOk(seesKeys('billing'));
});

t.test('an owner gives every role, an admin those below', async (t) => {
  t.same(rolesGivenBy('owner'), ['owner', 'admin', 'billing', 'member', 'viewer']);
  t.same(rolesGivenBy('admin'), ['billing', 'member', 'viewer']);
  for (const role of ['billing', 'member', 'viewer', 'key', 'operator'] as const) {
    t.same(rolesGivenBy(role), [], role);
  }
});

/** A person with memberships of accounts 1, 2, …, whose roles and activity are given. */
function signedIn(
  is_operator: boolean,
  memberships: readonly (readonly ['owner' | 'member', boolean])[],
): SignedIn {
  return {
    person: { id: 1, email: 'ann@example.com', name: 'Ann', is_operator },
    memberships: memberships.map(([role, is_active], index) => ({
      account: { id: index + 1, name: `Account ${index + 1}` },
      role,
      is_active,
      can_create_keys: true,
      spending_limits: [],
      limits: [],
      active_keys: 0,
    })),
  };
}

t.test('a person looks at the account that was chosen, if it still is one of theirs', async (t) => {
  const ann = signedIn(true, [
    ['owner', true],
    ['member', true],
    ['owner', false],
  ]);
  t.same(
    viewsOf(ann).map(({ view }) => view),
    [1, 2, 'operator'],
    'not a deactivated membership',
  );
  t.same(viewOf(ann, null), { role: 'owner', accountId: 1 });
  t.same(viewOf(ann, '2'), { role: 'member', accountId: 2 });
  t.same(viewOf(ann, '3'), { role: 'owner', accountId: 1 });
  t.same(viewOf(ann, 'operator'), { role: 'operator', accountId: undefined });
  t.same(viewOf(signedIn(false, [['member', true]]), 'operator'), { role: 'member', accountId: 1 });
  t.same(viewOf(signedIn(true, []), null), { role: 'operator', accountId: undefined });
  t.same(viewOf(signedIn(false, []), null), { role: 'person', accountId: undefined });
});
