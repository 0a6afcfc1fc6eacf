import t from 'tap';
import { SYSTEM } from '../../../src/domain/actor.ts';
import { refusalOf } from '../../helper/clients/api.ts';
import { Browser, PASSWORD } from '../../helper/clients/browser.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';
import { newEmail, personOn, signedIn } from '../../helper/start/people.ts';

interface SessionBody {
  readonly person: { readonly id: number; readonly email: string; readonly last_seen_at: string | null };
  readonly memberships: readonly unknown[];
}

const world = await startGatewayInProcess(t);
let addresses = 0;
/** An address from which nobody signed in. */
const from = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` });

t.test('a person signs in, is known by a cookie, and signs out', async (t) => {
  const person = await personOn(world, { email: `Ä${newEmail()}` });
  const browser = new Browser(world);
  t.same(refusalOf(await browser.get('/api/session/')), [401, 'not_signed_in', null]);
  const begun = await browser.signIn<SessionBody>(person.email.toLowerCase().normalize('NFD'));
  t.equal(begun.status, 200);
  t.match(browser.setCookie, /^tollgate=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  t.equal(begun.headers.get('cache-control'), 'no-store');
  const { last_seen_at, ...fields } = begun.body.person;
  t.same(fields, {
    id: person.id,
    email: person.email,
    name: 'Ada',
    is_operator: false,
    is_active: true,
    created_at: new Date(person.createdAt).toISOString(),
  });
  t.ok(last_seen_at);
  t.same(begun.body.memberships, []);
  t.same((await browser.get('/api/session/')).body, begun.body);
  const { cookie } = browser;
  t.equal((await browser.delete('/api/session/')).status, 200);
  t.equal(browser.cookie, undefined, 'the cookie is removed');
  browser.cookie = cookie;
  t.equal((await browser.get('/api/session/')).status, 401, 'the session has ended too');
});

t.test('the cookie is Secure and bound to its host where TLS is', async (t) => {
  const { email } = await personOn(world);
  const browser = new Browser(world, { 'x-forwarded-proto': 'https' });
  await browser.signIn(email);
  t.match(
    browser.setCookie,
    /^__Host-tollgate=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  t.equal((await browser.get('/api/session/')).status, 200);
});

t.test('memberships are listed with what is left of their limits', async (t) => {
  const { person, browser } = await signedIn(world);
  const { accountId } = await world.account();
  const changer = { by: SYSTEM, roles: new Set(['member'] as const) };
  const offer = { role: 'member', email: null, name: null, canCreateKeys: true, spendingLimits: [] } as const;
  await world.book.createInvitation(accountId, { ...offer, secretHash: person.email }, changer, Date.now());
  await world.book.acceptInvitation(person.email, { person }, { ip: null, requestId: null }, Date.now());
  const { body } = await browser.get<SessionBody>('/api/session/');
  const account = await world.book.account(accountId);
  t.same(body.memberships, [
    {
      account: { id: accountId, name: account?.email },
      role: 'member',
      is_active: true,
      can_create_keys: true,
      spending_limits: [],
      limits: [],
      active_keys: 0,
    },
  ]);
});

t.test('unknown people, wrong passwords and inactive people get the same answer', async (t) => {
  const known = await personOn(world);
  const inactive = await personOn(world);
  await world.book.updatePerson(inactive.id, { isActive: false }, SYSTEM, Date.now());
  const attempts: [string, string][] = [
    [newEmail(), PASSWORD],
    [known.email, `${PASSWORD}!`],
    [known.email, PASSWORD.toUpperCase()],
    [known.email, 'short'],
    [known.email, 'x'.repeat(201)],
    [inactive.email, PASSWORD],
  ];
  const answers = [];
  for (const [email, password] of attempts) {
    const { status, body } = await new Browser(world, from()).signIn(email, password);
    answers.push({ status, body });
  }
  for (const answer of answers) t.same(answer, answers[0]);
  t.match(answers[0], { status: 401, body: { error: { code: 'invalid_credentials' } } });
});

t.test('ten failures a minute of a person stop strangers, and not the person', async (t) => {
  const { email } = await personOn(world);
  const home = new Browser(world, from());
  t.equal((await home.signIn(email)).status, 200);
  for (let failed = 0; failed < 10; failed++)
    t.equal((await new Browser(world, from()).signIn(email, 'wrong password')).status, 401);
  const refused = await new Browser(world, from()).signIn(email);
  t.same(refusalOf(refused), [429, 'rate_limit_exceeded', null]);
  const waitS = Number(refused.headers.get('retry-after'));
  t.ok(waitS >= 1 && waitS <= 60, `${waitS} s`);
  t.equal((await home.signIn(email)).status, 200, 'where the person has signed in, their own failures count');
  for (let failed = 0; failed < 10; failed++)
    t.equal((await home.signIn(email, 'wrong password')).status, 401);
  t.equal((await home.signIn(email)).status, 429);
});

t.test('thirty failures a minute of an address stop it', async (t) => {
  const { email } = await personOn(world);
  const network = '2001:db8:5:5';
  let hosts = 0;
  const host = () => new Browser(world, { 'x-forwarded-for': `${network}::${++hosts}` });
  for (let failed = 0; failed < 30; failed++)
    t.equal((await host().signIn(newEmail(), 'x'.repeat(300))).status, 401);
  t.equal((await host().signIn(email)).status, 429, 'its whole /64');
  t.equal((await new Browser(world, from()).signIn(email)).status, 200);
});

t.test('unsafe requests need JSON and an own origin', async (t) => {
  const { person, browser } = await signedIn(world);
  const { host } = new URL(world.url);
  const body = { email: person.email, password: PASSWORD };
  const refused: [Record<string, string>, number, string][] = [
    [{ 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    [{ 'sec-fetch-site': 'cross-site' }, 403, 'cross_site'],
    [{ 'sec-fetch-site': 'same-site' }, 403, 'cross_site'],
    [{ 'sec-fetch-site': '' }, 403, 'cross_site'],
    [{ 'sec-fetch-site': '', origin: 'https://evil.example' }, 403, 'cross_site'],
    [{ 'sec-fetch-site': '', origin: 'null' }, 403, 'cross_site'],
    [{ 'sec-fetch-site': 'cross-site', origin: `http://${host}` }, 403, 'cross_site'],
  ];
  for (const [headers, status, code] of refused) {
    for (const path of ['/api/session/', '/api/setup/', '/api/session/reset/'])
      t.same(refusalOf(await browser.post(path, body, headers)), [status, code, null], path);
    t.same(refusalOf(await browser.patch('/api/session/person/', { name: 'Eve' }, headers)), [
      status,
      code,
      null,
    ]);
    t.same(refusalOf(await browser.delete('/api/session/', headers)), [status, code, null]);
  }
  t.equal((await browser.delete('/api/session/', { 'content-type': '' })).status, 415, 'a DELETE too');
  const own = [{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': '', origin: `http://${host}` }];
  for (const headers of own)
    t.equal((await browser.patch('/api/session/person/', { name: 'Ada' }, headers)).status, 200);
  t.equal(
    (await browser.get('/api/session/', { 'sec-fetch-site': 'cross-site' })).status,
    200,
    'reading changes nothing',
  );
});

t.test('requests with a session never have CORS', async (t) => {
  const { browser } = await signedIn(world);
  const origin = 'https://evil.example';
  for (const path of ['/api/session/', '/api/session/ways/', '/api/keys/']) {
    const { headers } = await browser.get(path, { origin });
    t.equal(headers.get('access-control-allow-origin'), null, path);
  }
  const preflight = await fetch(`${world.url}/api/session/`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  t.equal(preflight.status, 404);
  t.equal(preflight.headers.get('access-control-allow-origin'), null);
});

t.test('ways to sign in', async (t) => {
  t.same((await new Browser(world).get('/api/session/ways/')).body, { passwords: true, oidc: [] });
});
