import t from 'tap';
import type { Config } from '../../../src/config/config.ts';
import type { Role } from '../../../src/domain/roles.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import { apiWith, invited, memberOf, PASSWORD, send } from '../../helper/clients/people.ts';
import { type PersonSession, ProviderBrowser } from '../../helper/clients/provider-browser.ts';
import { oidcSettings } from '../../helper/fixtures/oidc-settings.ts';
import { startOidcProvider } from '../../helper/stand-ins/oidc-provider.ts';
import {
  ADMIN_TOKEN,
  startGatewayInProcess,
  startOwnGateway,
} from '../../helper/start/gateway-in-process.ts';

const PAGE = '/dashboard/';
const NO_ACCOUNT = 999_999;
const DOMAIN = 'company.example';
const provider = await startOidcProvider(t);
/** Ids of accounts begin at 1, and this gateway has no others. */
const [FIRST, SECOND, THIRD] = [1, 2, 3];
const given = (value: string, account: number, role: Role) => ({ value, account, role });
const people: Config['people'] = {
  passwords: true,
  auditDays: 400,
  oidc: [
    oidcSettings(provider, {
      name: 'company',
      domains: [DOMAIN],
      roleClaim: 'groups',
      roles: [
        given('staff', FIRST, 'viewer'),
        given('leads', FIRST, 'admin'),
        given('staff', SECOND, 'member'),
        given('owners', THIRD, 'owner'),
        given('staff', NO_ACCOUNT, 'owner'),
      ],
    }),
  ],
};
const world = await startGatewayInProcess(t, { config: { people } });
for (const id of [FIRST, SECOND, THIRD]) {
  const { accountId } = await world.account();
  if (accountId !== id) throw new Error('the gateway is not new');
}
const operator = apiOf(world, ADMIN_TOKEN);

/** Signs in with a claim. Resolves with the page that the browser ends at. */
async function signIn(browser: ProviderBrowser, sub: string, claims: object): Promise<string> {
  provider.user = { sub, email: `${sub}@${DOMAIN}`, email_verified: true, ...claims };
  return await browser.signIn(provider, 'company');
}

const sessionOf = async (browser: ProviderBrowser) =>
  (await browser.send<PersonSession>('GET', '/api/session/')).body;

async function rolesOf(browser: ProviderBrowser): Promise<[account: number, role: Role][]> {
  const { memberships } = await sessionOf(browser);
  return memberships.map(({ account, role }) => [account.id, role]);
}

t.test('memberships made by a claim follow it at each sign-in; others stay', async (t) => {
  const browser = new ProviderBrowser(world.url);
  t.equal(await signIn(browser, 'ada', { groups: ['staff', 'leads', 'unknown'] }), PAGE);
  t.same(await rolesOf(browser), [
    [FIRST, 'admin'],
    [SECOND, 'member'],
  ]);
  const { id } = (await sessionOf(browser)).person;
  const made = await world.book.auditEntries({ limit: 10, action: 'member.add' });
  t.match(made[0], { actor: { type: 'system' }, target: { type: 'member', id: `${id}` } });

  const api = apiWith(world, browser.cookie, SECOND);
  const { body } = await api.post<{ key: string }>('/api/keys/', { name: 'own' });
  t.equal((await world.chat(body.key, { model: 'flat' })).status, 200);
  const later = new ProviderBrowser(world.url);
  t.equal(await signIn(later, 'ada', { groups: 'leads' }), PAGE);
  t.same(await rolesOf(later), [[FIRST, 'admin']], 'one text counts as a list of one');
  t.equal((await world.chat(body.key, { model: 'flat' })).status, 401, 'keys end with the membership');
  t.same(await rolesOf(browser), [[FIRST, 'admin']], 'a session that stood goes on');

  const secret = await invited(world, SECOND, 'billing');
  await later.send('POST', '/api/invitations/accept/', { secret });
  t.equal(await signIn(later, 'ada', { groups: ['staff'] }), PAGE);
  t.same(await rolesOf(later), [
    [FIRST, 'viewer'],
    [SECOND, 'billing'],
  ]);
  t.equal(await signIn(later, 'ada', { groups: [] }), PAGE);
  t.same(await rolesOf(later), [[SECOND, 'billing']]);
  t.equal(await signIn(later, 'ada', {}), PAGE, 'an absent claim is an empty one');
  t.same(await rolesOf(later), [[SECOND, 'billing']]);
});

t.test('a deactivated membership stays so, whatever the claim', async (t) => {
  const browser = new ProviderBrowser(world.url);
  await signIn(browser, 'eve', { groups: ['staff'] });
  const { id } = (await sessionOf(browser)).person;
  const owner = await memberOf(world, FIRST, 'owner');
  await owner.patch(`/api/account/members/${id}/`, { is_active: false });
  // A claim without it must not make room for a new one.
  for (const groups of [['leads'], [], ['leads']]) t.equal(await signIn(browser, 'eve', { groups }), PAGE);
  const { memberships } = await sessionOf(browser);
  t.match(memberships[0], { account: { id: FIRST }, role: 'admin', is_active: false });
});

t.test('the last owner stays', async (t) => {
  const browser = new ProviderBrowser(world.url);
  t.equal(await signIn(browser, 'olga', { groups: ['owners'] }), PAGE);
  t.equal(await signIn(browser, 'olga', { groups: [] }), PAGE);
  t.same(await rolesOf(browser), [[THIRD, 'owner']]);
  await memberOf(world, THIRD, 'owner');
  t.equal(await signIn(browser, 'olga', { groups: [] }), PAGE);
  t.same(await rolesOf(browser), []);
});

t.test('a claim that was left out refuses the sign-in and changes nothing', async (t) => {
  const browser = new ProviderBrowser(world.url);
  await signIn(browser, 'max', { groups: ['staff'] });
  const before = await rolesOf(browser);
  for (const claims of [
    { _claim_names: { groups: 'src1' } },
    { hasgroups: true },
    { hasgroups: 'true' },
    { groups: ['leads'], _claim_names: { groups: 'src1' } },
  ]) {
    const page = await signIn(new ProviderBrowser(world.url), 'max', claims);
    t.equal(page, '/dashboard/sign-in?error=sign_in_failed', JSON.stringify(claims));
    t.same(await rolesOf(browser), before);
  }
  t.equal(
    await signIn(new ProviderBrowser(world.url), 'moritz', { hasgroups: true }),
    '/dashboard/sign-in?error=sign_in_failed',
  );
  t.notOk(await world.book.personByEmail(`moritz@${DOMAIN}`));
});

t.test('an inactive person gets no membership by a claim', async (t) => {
  const browser = new ProviderBrowser(world.url);
  await signIn(browser, 'ivan', { groups: [] });
  const { id } = (await sessionOf(browser)).person;
  await operator.patch(`/api/admin/people/${id}/`, { is_active: false });
  await signIn(browser, 'ivan', { groups: ['leads'] });
  t.notOk(await world.book.member(FIRST, id));
});

t.test(
  'without passwords, people sign in by providers alone, and below the path of the public URL',
  async (t) => {
    const server = { ...world.config.server, publicUrl: 'https://gateway.example/ai' };
    const own = await startOwnGateway(t, { config: { people: { ...people, passwords: false }, server } });
    const { accountId } = await own.account();
    const secret = await invited(own, accountId, 'owner', { email: 'x@elsewhere.example' });
    const newcomer = { email: 'x@elsewhere.example', name: 'X', password: PASSWORD };
    for (const [path, body] of [
      ['/api/session/', { email: newcomer.email, password: PASSWORD }],
      ['/api/setup/', { code: 'x', ...newcomer }],
      ['/api/session/reset/', { secret: 'x', password: PASSWORD }],
      ['/api/invitations/accept/', { secret, ...newcomer }],
    ] as const) {
      t.match(refusalOf(await send(own, 'POST', path, body)), [403, 'use_provider'], path);
    }
    t.same((await send<object>(own, 'GET', '/api/session/ways/')).body, {
      passwords: false,
      oidc: ['company'],
    });
    const browser = new ProviderBrowser(own.url);
    const asked = new URL(await browser.open('/api/session/oidc/company/')).searchParams.get('redirect_uri');
    t.equal(asked, 'https://gateway.example/ai/api/session/oidc/company/callback/');
    provider.user = { sub: 'x', email: newcomer.email, email_verified: true };
    const begun = await browser.send<{ location: string }>('POST', '/api/session/oidc/company/', { secret });
    const back = await provider.approve(begun.body.location);
    t.equal(await browser.open(back.href.replace('https://gateway.example/ai', own.url)), '/ai/dashboard/');
    const change = { password: PASSWORD };
    t.match(refusalOf(await browser.send('PATCH', '/api/session/person/', change)), [403, 'use_provider']);
  },
);

t.test('a provider that is away stops sign-ins, nothing else', async (t) => {
  const gone = await startOidcProvider(t);
  const settings = oidcSettings(gone, { name: 'gone', domains: [DOMAIN] });
  const own = await startOwnGateway(t, { config: { people: { ...people, oidc: [settings] } } });
  const { accountId, key } = await own.account();
  const browser = new ProviderBrowser(own.url);
  gone.user = { sub: 'x', email: `x@${DOMAIN}`, email_verified: true };
  t.equal(await browser.signIn(gone, 'gone'), PAGE);
  const back = await gone.approve(await browser.open('/api/session/oidc/gone/'));
  await gone.close();
  const away = '/dashboard/sign-in?error=provider_unavailable';
  t.equal(await browser.open(back.href), away);
  t.equal((await browser.send('GET', '/api/session/')).status, 200);
  t.equal((await own.chat(key, { model: 'flat' })).status, 200);
  const secret = await invited(own, accountId, 'viewer');
  const restarted = await startOwnGateway(t, { config: { people: { ...people, oidc: [settings] } } });
  t.equal(
    await new ProviderBrowser(restarted.url).open('/api/session/oidc/gone/'),
    away,
    'a provider never seen',
  );
  t.equal((await send(own, 'POST', '/api/invitations/look/', { secret })).status, 200);
});
