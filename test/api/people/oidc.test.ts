import t, { type Test } from 'tap';
import type { IdentityListView } from '../../../src/api/people/identity-view.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import { invited, memberOf, PASSWORD, send } from '../../helper/clients/people.ts';
import { type PersonSession, ProviderBrowser } from '../../helper/clients/provider-browser.ts';
import { oidcSettings } from '../../helper/fixtures/oidc-settings.ts';
import { type Lie, startOidcProvider, type User } from '../../helper/stand-ins/oidc-provider.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const company = await startOidcProvider(t);
const other = await startOidcProvider(t);
const world = await startGatewayInProcess(t, {
  config: {
    people: {
      passwords: true,
      auditDays: 400,
      oidc: [
        oidcSettings(company, { name: 'company', domains: ['company.example'] }),
        oidcSettings(other, { name: 'other' }),
      ],
    },
  },
});
const operator = apiOf(world, ADMIN_TOKEN);
const PAGE = '/dashboard/';
const IDENTITIES = '/api/session/identities/';
const failed = (code: string) => `/dashboard/sign-in?error=${code}`;

let users = 0;
/** A person of a provider whom the gateway has never seen. */
function newUser(domain: string, more: object = {}): User {
  const name = `user${users++}`;
  return { sub: name, email: `${name}@${domain}`, email_verified: true, name: `User ${name}`, ...more };
}

/** A browser that has signed in, as somebody new of the company. */
async function signedIn(user = newUser('company.example')): Promise<ProviderBrowser> {
  const browser = new ProviderBrowser(world.url);
  company.user = user;
  const page = await browser.signIn(company, 'company');
  if (page !== PAGE) throw new Error(`not signed in: ${page}`);
  return browser;
}

const sessionOf = async (browser: ProviderBrowser) =>
  (await browser.send<PersonSession>('GET', '/api/session/')).body;
const identitiesOf = async (browser: ProviderBrowser) =>
  (await browser.send<IdentityListView>('GET', IDENTITIES)).body.identities;

t.test(
  'a verified e-mail of a domain makes a person, who then signs in with the same identity',
  async (t) => {
    const ways = await send<object>(world, 'GET', '/api/session/ways/');
    t.same(ways.body, { passwords: true, oidc: ['company', 'other'] });
    const user = newUser('Company.Example');
    const browser = await signedIn(user);
    const { person, memberships } = await sessionOf(browser);
    t.match(person, { email: user.email, name: user.name, is_operator: false, is_active: true });
    t.same(memberships, []);
    t.match(await identitiesOf(browser), [
      { name: 'company', issuer: company.issuer, subject: user.sub, email: user.email },
    ]);
    const again = await signedIn({ ...user, email: 'moved@elsewhere.example', email_verified: false });
    t.equal((await sessionOf(again)).person.id, person.id, 'the subject alone says who it is');
    t.match(await identitiesOf(again), [{ email: 'moved@elsewhere.example' }]);
    const actions = (await world.book.auditEntries({ limit: 50 }))
      .filter(({ actor }) => actor.type === 'person' && actor.id === person.id)
      .map(({ action }) => action);
    t.same(actions, ['session.create', 'session.create', 'identity.link', 'person.create']);
  },
);

t.test('an identity without a right to sign in makes nobody', async (t) => {
  const users: [User, string][] = [
    [newUser('elsewhere.example'), 'identity_unknown'],
    [newUser('sub.company.example'), 'identity_unknown'],
    [newUser('company.example', { email_verified: false }), 'identity_unknown'],
    [newUser('company.example', { email_verified: undefined }), 'identity_unknown'],
    [{ sub: 'no-email' }, 'identity_unknown'],
  ];
  for (const [user, code] of users) {
    company.user = user;
    const browser = new ProviderBrowser(world.url);
    t.equal(await browser.signIn(company, 'company'), failed(code), JSON.stringify(user));
    t.equal((await browser.send('GET', '/api/session/')).status, 401);
    if (typeof user.email === 'string') t.notOk(await world.book.personByEmail(user.email));
  }
  other.user = newUser('company.example');
  t.equal(await new ProviderBrowser(world.url).signIn(other, 'other'), failed('identity_unknown'));
});

t.test('an e-mail never joins an identity to a person', async (t) => {
  const { accountId } = await world.account();
  const user = newUser('company.example');
  const secret = await invited(world, accountId, 'owner', { email: user.email });
  const person = { secret, email: user.email, name: 'Local', password: PASSWORD };
  t.equal(
    (await send(world, 'POST', '/api/invitations/accept/', person)).status,
    201,
    'one for that e-mail can',
  );
  company.user = user;
  t.equal(await new ProviderBrowser(world.url).signIn(company, 'company'), failed('email_taken'));
  const open = await invited(world, accountId, 'viewer');
  const browser = new ProviderBrowser(world.url);
  t.equal(await browser.signIn(company, 'company', { secret: open }), failed('email_taken'));
});

t.test('the same subject at two issuers is two people', async (t) => {
  const { accountId } = await world.account();
  const browser = await signedIn(newUser('company.example', { sub: 'same' }));
  other.user = { sub: 'same', email: 'same@other.example' };
  const second = new ProviderBrowser(world.url);
  const secret = await invited(world, accountId, 'viewer');
  t.equal(await second.signIn(other, 'other', { secret }), PAGE);
  t.not((await sessionOf(second)).person.id, (await sessionOf(browser)).person.id);
});

t.test('an invitation is accepted with a provider', async (t) => {
  const { accountId } = await world.account();
  const use = (secret: string, user: User, browser = new ProviderBrowser(world.url)) => {
    other.user = user;
    return browser.signIn(other, 'other', { secret });
  };
  const user = newUser('other.example', { email_verified: undefined });
  const browser = new ProviderBrowser(world.url);
  const open = await invited(world, accountId, 'admin');
  t.equal(await use(open, user, browser), PAGE, 'one without an e-mail by anybody');
  const { person, memberships } = await sessionOf(browser);
  t.equal(person.email, user.email);
  t.match(memberships, [{ account: { id: accountId }, role: 'admin', is_active: true }]);
  const used = await browser.send('POST', '/api/session/oidc/other/', { secret: open });
  t.same(refusalOf(used), [410, 'invitation_gone', null]);
  t.equal(await use(await invited(world, accountId, 'viewer'), user), failed('already_member'));

  const second = await world.account();
  const named = { email: 'Named@other.example' };
  const secret = await invited(world, second.accountId, 'member', named);
  t.equal(await use(secret, newUser('other.example')), failed('invitation_email'));
  const unverified = { ...newUser('other.example'), ...named, email_verified: false };
  t.equal(await use(secret, unverified), failed('invitation_email'));
  t.equal(await use(secret, newUser('x', { email: undefined })), failed('sign_in_failed'));
  t.equal(await use(secret, { ...unverified, email_verified: true }), PAGE);
  const forPerson = await invited(world, second.accountId, 'member', { email: person.email });
  t.equal(await use(forPerson, { ...user, email: 'moved@other.example' }), PAGE, 'or by that person');
});

t.test('e-mails of a domain belong to its provider', async (t) => {
  const { accountId } = await world.account();
  const open = await invited(world, accountId, 'member');
  const typed = (email: string) => ({ secret: open, email, name: 'X', password: PASSWORD });
  const accept = (email: string) => send(world, 'POST', '/api/invitations/accept/', typed(email));
  t.same(refusalOf(await accept('boss@COMPANY.example')), [403, 'use_provider', null]);
  for (const [provider, name, email_verified] of [
    [other, 'other', true],
    [company, 'company', false],
  ] as const) {
    provider.user = newUser('company.example', { email_verified });
    const page = await new ProviderBrowser(world.url).signIn(provider, name, { secret: open });
    t.equal(page, failed('use_provider'), `${name}, ${email_verified}`);
  }
  t.equal((await accept('x@notcompany.example')).status, 201);
});

t.test('a person who is signed in links an identity, within 10 minutes of the sign-in', async (t) => {
  const { accountId } = await world.account();
  const person = await memberOf(world, accountId, 'member');
  const browser = new ProviderBrowser(world.url).add(person.cookie);
  other.user = newUser('elsewhere.example');
  t.equal(await browser.signIn(other, 'other', { link: true }), '/dashboard/me');
  t.match(await identitiesOf(browser), [{ name: 'other', subject: other.user.sub }]);
  const again = new ProviderBrowser(world.url);
  t.equal(await again.signIn(other, 'other'), PAGE);
  t.equal((await sessionOf(again)).person.id, person.id);
  t.equal(await browser.signIn(other, 'other', { link: true }), '/dashboard/me', 'again');
  t.equal((await identitiesOf(browser)).length, 1);
  const thief = new ProviderBrowser(world.url).add((await memberOf(world, accountId, 'member')).cookie);
  t.equal(await thief.signIn(other, 'other', { link: true }), failed('identity_taken'));

  const link = (by: ProviderBrowser) => by.send('POST', '/api/session/oidc/other/', { link: true });
  t.equal((await link(new ProviderBrowser(world.url))).status, 401);
  const realNow = Date.now;
  t.teardown(() => {
    Date.now = realNow;
  });
  Date.now = () => realNow() + 10 * 60_000 + 1;
  t.same(refusalOf(await link(browser)), [403, 'sign_in_again', null]);
});

t.test('the session that asked for a link must still be that of the browser', async (t) => {
  const { accountId } = await world.account();
  const [first, second] = [
    await memberOf(world, accountId, 'member'),
    await memberOf(world, accountId, 'member'),
  ];
  const browser = new ProviderBrowser(world.url).add(first.cookie);
  other.user = newUser('elsewhere.example');
  const begun = await browser.send<{ location: string }>('POST', '/api/session/oidc/other/', { link: true });
  const back = await other.approve(begun.body.location);
  browser.add(second.cookie);
  t.equal(await browser.open(back.href), failed('sign_in_failed'));
  t.same(await identitiesOf(browser), []);
});

t.test('the last way to sign in stays', async (t) => {
  const browser = await signedIn();
  const [only] = await identitiesOf(browser);
  const path = `${IDENTITIES}${only?.id}/`;
  t.same(refusalOf(await browser.send('DELETE', path)), [409, 'last_way', null]);
  const stranger = await signedIn();
  t.same(refusalOf(await stranger.send('DELETE', path)), [404, 'identity_not_found', null]);
  other.user = newUser('elsewhere.example');
  t.equal(await browser.signIn(other, 'other', { link: true }), '/dashboard/me');
  t.same((await browser.send('DELETE', path)).body, { deleted: true });
  t.match(await identitiesOf(browser), [{ name: 'other' }]);
  const [last] = await identitiesOf(browser);
  t.equal((await browser.send('PATCH', '/api/session/person/', { password: PASSWORD })).status, 200);
  t.equal((await browser.send('DELETE', `${IDENTITIES}${last?.id}/`)).status, 200, 'the password is left');
});

t.test('an inactive person does not sign in', async (t) => {
  const user = newUser('company.example');
  const { person } = await sessionOf(await signedIn(user));
  await operator.patch(`/api/admin/people/${person.id}/`, { is_active: false });
  company.user = user;
  t.equal(await new ProviderBrowser(world.url).signIn(company, 'company'), failed('invalid_credentials'));
});

t.test('a sign-in ends in the browser and with the provider it began with, once', async (t) => {
  company.user = newUser('company.example');
  const browser = new ProviderBrowser(world.url);
  const back = await company.approve(await browser.open('/api/session/oidc/company/'));
  t.equal(await new ProviderBrowser(world.url).open(back.href), failed('sign_in_failed'), 'another browser');
  const mixed = back.href.replace('/oidc/company/', '/oidc/other/');
  const victim = new ProviderBrowser(world.url).add(browser.cookie);
  t.equal(await victim.open(mixed), failed('sign_in_failed'), 'another provider');
  t.equal(await browser.open(back.href), PAGE);
  t.equal(await browser.open(back.href), failed('sign_in_failed'), 'twice');
  for (const path of ['', 'callback/']) {
    const answer = await send(world, 'GET', `/api/session/oidc/unknown/${path}`);
    t.same(refusalOf(answer), [404, 'unknown_endpoint', null]);
  }
  const post = await send(world, 'POST', '/api/session/oidc/unknown/', { link: true });
  t.same(refusalOf(post), [404, 'unknown_endpoint', null]);
  for (const body of [{}, { link: false }, { secret: 'x', link: true }]) {
    const wrong = await browser.send('POST', '/api/session/oidc/company/', body);
    t.same(refusalOf(wrong), [400, 'invalid_field', 'secret']);
  }
  const site = { 'sec-fetch-site': 'cross-site' };
  const foreign = await send(world, 'POST', '/api/session/oidc/company/', { link: true }, site);
  t.same(refusalOf(foreign), [403, 'cross_site', null]);
});

/** Signs in while the provider lies. */
async function liesTo(t: Test, lie: Lie, code: string): Promise<void> {
  company.user = newUser('company.example');
  company.lie = lie;
  const browser = new ProviderBrowser(world.url);
  t.equal(await browser.signIn(company, 'company'), failed(code), lie);
  t.equal((await browser.send('GET', '/api/session/')).status, 401, lie);
  t.notOk(await world.book.personByEmail(String(company.user.email)), lie);
}

t.test('no lie of a provider signs anybody in', async (t) => {
  t.teardown(() => {
    company.lie = undefined;
  });
  await signedIn();
  const lies: Lie[] = [
    'algorithm none',
    'another audience',
    'another issuer',
    'another issuer of the answer',
    'another key',
    'another nonce',
    'another state',
    'expired',
    'no code',
    'no ID token',
    'no nonce',
    'not yet valid',
    'the client is unknown',
    'unsigned',
  ];
  for (const lie of lies) await liesTo(t, lie, 'sign_in_failed');
  await liesTo(t, 'access denied', 'provider_denied');
  for (const lie of ['server error', 'token endpoint fails'] as const)
    await liesTo(t, lie, 'provider_unavailable');
});
