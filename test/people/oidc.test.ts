import { type Test, test } from 'tap';
import type { OidcSettings } from '../../src/config/people.ts';
import { Oidc, rolesOf, type SignInError } from '../../src/people/oidc.ts';
import { oidcSettings } from '../helper/fixtures/oidc-settings.ts';
import {
  type Lie,
  type OidcProvider,
  startOidcProvider,
  type User,
} from '../helper/stand-ins/oidc-provider.ts';

const CALLBACK = 'https://gateway.example/ai/api/session/oidc/idp/callback/';

async function start(t: Test, user?: User, more: Partial<OidcSettings> = {}) {
  const provider = await startOidcProvider(t, user);
  return { provider, oidc: new Oidc([oidcSettings(provider, more)]) };
}

/** Signs in as the browser would. */
async function signIn({ provider, oidc }: { provider: OidcProvider; oidc: Oidc }) {
  const { location, state } = await oidc.begin('idp', CALLBACK);
  return await oidc.finish('idp', await provider.approve(location), state);
}

async function refusal(ended: Promise<unknown>): Promise<SignInError> {
  return await ended.then(
    () => Promise.reject(new Error('the sign-in was not refused')),
    (error) => error,
  );
}

const ADA: User = { sub: 'ada', email: 'Ada@Example.com', email_verified: true, name: 'Ada', groups: ['x'] };

test('a sign-in returns who it is, and asks for what the settings say', async (t) => {
  const { provider, oidc } = await start(t, ADA);
  const { location, state } = await oidc.begin('idp', CALLBACK, { to: 'accept', secret: 's' });
  const asked = new URL(location).searchParams;
  t.equal(asked.get('scope'), 'openid email profile');
  t.equal(asked.get('redirect_uri'), CALLBACK);
  t.equal(asked.get('code_challenge_method'), 'S256');
  t.same(state.after, { to: 'accept', secret: 's' });
  for (const secret of [state.verifier, 'client secret']) t.notOk(location.includes(secret));
  const identity = await oidc.finish(
    'idp',
    await provider.approve(location),
    JSON.parse(JSON.stringify(state)),
  );
  t.match(identity, {
    issuer: provider.issuer,
    subject: 'ada',
    email: 'Ada@Example.com',
    isEmailVerified: true,
    name: 'Ada',
    claims: { groups: ['x'] },
    roles: null,
  });
  t.notOk(provider.requests.includes('/userinfo'), 'the ID token had all');
});

test('a provider is discovered once', async (t) => {
  const world = await start(t, ADA);
  t.same(world.provider.requests, [], 'and not before the first sign-in');
  await signIn(world);
  await signIn(world);
  const discoveries = world.provider.requests.filter((path) => path.startsWith('/.well-known'));
  t.equal(discoveries.length, 1);
});

test('claims that are not in the ID token come from userinfo', async (t) => {
  const roles = [{ value: 'x', account: 1, role: 'admin' }] as const;
  const world = await start(t, ADA, { roleClaim: 'groups', roles });
  world.provider.claimsIn = 'userinfo';
  t.match(await signIn(world), {
    email: 'Ada@Example.com',
    isEmailVerified: true,
    name: 'Ada',
    roles: [{ account: 1, role: 'admin' }],
  });
});

test('the client authenticates as the metadata says, and without a secret by PKCE alone', async (t) => {
  for (const methods of [undefined, ['client_secret_basic'], ['client_secret_basic', 'client_secret_post']]) {
    const world = await start(t, ADA);
    world.provider.authMethods = methods;
    t.equal((await signIn(world)).subject, 'ada', String(methods));
  }
  const open = await start(t, ADA, { clientSecret: undefined });
  open.provider.authMethods = ['none'];
  t.equal((await signIn(open)).subject, 'ada');
});

const LIES: Readonly<Record<Exclude<Lie, 'token endpoint hangs'>, SignInError['code']>> = {
  'access denied': 'provider_denied',
  'algorithm none': 'sign_in_failed',
  'another audience': 'sign_in_failed',
  'another issuer': 'sign_in_failed',
  'another issuer in its metadata': 'provider_unavailable',
  'another issuer of the answer': 'sign_in_failed',
  'another key': 'sign_in_failed',
  'another nonce': 'sign_in_failed',
  'another state': 'sign_in_failed',
  'another subject of userinfo': 'sign_in_failed',
  'discovery fails': 'provider_unavailable',
  expired: 'sign_in_failed',
  'keys fail': 'provider_unavailable',
  'no authorization endpoint': 'provider_unavailable',
  'no code': 'sign_in_failed',
  'no ID token': 'sign_in_failed',
  'no nonce': 'sign_in_failed',
  'not yet valid': 'sign_in_failed',
  'server error': 'provider_unavailable',
  'the client is unknown': 'sign_in_failed',
  'token endpoint fails': 'provider_unavailable',
  unsigned: 'sign_in_failed',
  'userinfo fails': 'provider_unavailable',
};

for (const [lie, code] of Object.entries(LIES) as [Lie, SignInError['code']][]) {
  test(`a sign-in is refused: ${lie}`, async (t) => {
    const world = await start(t, ADA);
    world.provider.lie = lie;
    if (lie.includes('userinfo')) world.provider.claimsIn = 'userinfo';
    const error = await refusal(signIn(world));
    t.match(error, { name: 'SignInError', code });
    t.notMatch(error.message, /\bada\b|client secret|eyJ/i, 'the message has no claim, secret or token');
    world.provider.lie = undefined;
    t.equal((await signIn(world)).subject, 'ada', 'the next one works');
  });
}

test('a provider that is away fails the sign-in, and works when it is back', async (t) => {
  const { provider, oidc } = await start(t, ADA);
  const { location, state } = await oidc.begin('idp', CALLBACK);
  const answered = await provider.approve(location);
  await provider.close();
  t.match(await refusal(oidc.finish('idp', answered, state)), { code: 'provider_unavailable' });
  const unknown = new Oidc([oidcSettings(provider)]);
  t.match(await refusal(unknown.begin('idp', CALLBACK)), { code: 'provider_unavailable' });
});

test('a provider that does not answer fails the sign-in in time', async (t) => {
  const { provider, oidc } = await start(t, ADA);
  const { location, state } = await oidc.begin('idp', CALLBACK);
  const answered = await provider.approve(location);
  provider.lie = 'token endpoint hangs';
  const impatient = new Oidc([oidcSettings(provider)], 0.5);
  t.match(await refusal(impatient.finish('idp', answered, state)), { code: 'provider_unavailable' });
});

test('an answer belongs to one sign-in', async (t) => {
  const { provider, oidc } = await start(t, ADA);
  const [first, second] = [await oidc.begin('idp', CALLBACK), await oidc.begin('idp', CALLBACK)];
  const answered = await provider.approve(first.location);
  t.match(await refusal(oidc.finish('idp', answered, second.state)), { code: 'sign_in_failed' });
  const stolen = { ...second.state, state: first.state.state, nonce: first.state.nonce };
  t.match(await refusal(oidc.finish('idp', answered, stolen)), { code: 'sign_in_failed' }, 'PKCE');
  const again = await provider.approve(first.location);
  t.equal((await oidc.finish('idp', again, first.state)).subject, 'ada');
  t.match(
    await refusal(oidc.finish('idp', again, first.state)),
    { code: 'sign_in_failed' },
    'a code works once',
  );
});

test('the answer of one provider does not finish a sign-in by another', async (t) => {
  const [a, b] = [await startOidcProvider(t, ADA), await startOidcProvider(t, ADA)];
  const oidc = new Oidc([oidcSettings(a, { name: 'a' }), oidcSettings(b, { name: 'b' })]);
  t.same(oidc.names, ['a', 'b']);
  const { location, state } = await oidc.begin('a', CALLBACK);
  const answered = await a.approve(location);
  t.match(await refusal(oidc.finish('b', answered, state)), { code: 'sign_in_failed' });
  t.notOk(b.requests.includes('/token'), 'the code does not go to the other');
});

test('one subject at two issuers is two identities', async (t) => {
  const [one, other] = [await signIn(await start(t, ADA)), await signIn(await start(t, ADA))];
  t.equal(one.subject, other.subject);
  t.not(one.issuer, other.issuer);
});

test('an e-mail counts as verified only if the provider says so', async (t) => {
  const world = await start(t);
  for (const [claims, email, isEmailVerified] of [
    [{ email: 'a@b.example', email_verified: true }, 'a@b.example', true],
    [{ email: 'a@b.example', email_verified: 'true' }, 'a@b.example', true],
    [{ email: 'a@b.example', email_verified: false }, 'a@b.example', false],
    [{ email: 'a@b.example', email_verified: 'false' }, 'a@b.example', false],
    [{ email: 'a@b.example', email_verified: 1 }, 'a@b.example', false],
    [{ email: 'a@b.example' }, 'a@b.example', false],
    [{ email_verified: true }, null, false],
    [{ email: ['a@b.example'], email_verified: true }, null, false],
  ] as const) {
    world.provider.user = { sub: 's', ...claims };
    t.match(await signIn(world), { email, isEmailVerified, name: null }, JSON.stringify(claims));
  }
});

const ROLES_OF: Pick<OidcSettings, 'roleClaim' | 'roles'> = {
  roleClaim: 'groups',
  roles: [
    { value: 'staff', account: 1, role: 'viewer' },
    { value: 'staff', account: 2, role: 'member' },
    { value: 'Money People', account: 1, role: 'billing' },
    { value: 'root', account: 1, role: 'owner' },
  ],
};

test('the claim decides roles: of several for an account, the first', async (t) => {
  const roles = (groups: unknown) => rolesOf(ROLES_OF, { groups }).sort((a, b) => a.account - b.account);
  t.same(roles(['staff']), [
    { account: 1, role: 'viewer' },
    { account: 2, role: 'member' },
  ]);
  t.same(roles(['staff', 'Money People', 'unknown', 7, null]), [
    { account: 1, role: 'billing' },
    { account: 2, role: 'member' },
  ]);
  t.same(roles('root'), [{ account: 1, role: 'owner' }]);
  t.same(roles('root staff'), [], 'a text is one value');
  for (const none of [[], undefined, null, 7, {}, ['Root'], [['root']]]) t.same(roles(none), []);
  t.same(rolesOf(ROLES_OF, {}), []);
  t.same(rolesOf({ ...ROLES_OF, roleClaim: 'constructor' }, {}), []);
});

test('a claim that was left out refuses the sign-in', async (t) => {
  for (const left of [
    { _claim_names: { groups: 'src1' } },
    { hasgroups: true },
    { hasgroups: 'true' },
    { groups: ['root'], _claim_names: { groups: 'src1' } },
  ])
    t.throws(() => rolesOf(ROLES_OF, left), { code: 'sign_in_failed' }, JSON.stringify(left));
  t.same(rolesOf(ROLES_OF, { groups: [], _claim_names: { other: 'src1' }, hasgroups: false }), []);

  const world = await start(
    t,
    { sub: 's', email: 'a@b.example', _claim_names: { groups: 'src1' } },
    ROLES_OF,
  );
  t.match(await refusal(signIn(world)), { code: 'sign_in_failed', message: /left out the claim groups/ });
  const without = await start(t, { sub: 's', _claim_names: { groups: 'src1' } });
  t.equal((await signIn(without)).roles, null, 'without roleClaim, nothing is missing');
});
