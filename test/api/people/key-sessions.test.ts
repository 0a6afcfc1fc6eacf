import t from 'tap';
import type { ModelListView } from '../../../src/api/models/model-view.ts';
import type { SessionView } from '../../../src/api/people/person-view.ts';
import { COMMAND_LINE } from '../../../src/domain/actor.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import { Browser, PASSWORD } from '../../helper/clients/browser.ts';
import { memberOf } from '../../helper/clients/people.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startGatewayInProcess,
  startOwnGateway,
  type TestAccount,
} from '../../helper/start/gateway-in-process.ts';
import { newEmail, personOn } from '../../helper/start/people.ts';

const world = await startGatewayInProcess(t);
const SESSION = '/api/session/';
const NOT_SIGNED_IN = [401, 'not_signed_in', null];
let addresses = 0;
const from = () => ({ 'x-forwarded-for': `203.0.113.${++addresses}` });

/** A browser that has exchanged a key, or the operator's token. */
async function exchanged(key: string, gateway: Pick<InProcessGateway, 'url'> = world) {
  const browser = new Browser(gateway, from());
  const begun = await browser.post<SessionView>(SESSION, { key });
  if (begun.status !== 200) throw new Error(`refused: ${JSON.stringify(begun.body)}`);
  return { browser, begun };
}

const keyOf = (account: TestAccount) => apiOf(world, account.key);
const changeKey = ({ accountId, keyId }: TestAccount, change: object) =>
  apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${accountId}/keys/${keyId}/`, change);

t.test('a key is exchanged for a session with its rights, which ends with a sign-out', async (t) => {
  const account = await world.account();
  const { browser, begun } = await exchanged(` ${account.key}\n`);
  const { name } = (await keyOf(account).get<{ name: string }>('/api/key/')).body;
  t.same(begun.body, {
    person: null,
    key: { id: account.keyId, name, can_manage: true },
    is_operator: false,
    memberships: [],
  });
  t.match(browser.setCookie, /^tollgate=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/);
  t.equal(begun.headers.get('cache-control'), 'no-store');
  t.equal(begun.headers.get('access-control-allow-origin'), null);
  t.same((await browser.get(SESSION)).body, begun.body);
  for (const path of ['/api/key/', '/api/keys/', '/api/account/', '/api/account/ledger/'])
    t.same((await browser.get(path)).body, (await keyOf(account).get(path)).body, path);
  t.equal((await browser.get('/api/account/', { 'tollgate-account': '999' })).status, 200, 'names nothing');
  const made = await browser.post<{ id: number }>('/api/keys/', { name: 'made' });
  t.equal(made.status, 201);
  const [entry] = await world.book.auditEntries({ limit: 1 });
  t.match(entry, { action: 'key.create', actor: { type: 'key', id: account.keyId } });
  t.same(refusalOf(await browser.get('/api/admin/accounts/')), [401, 'invalid_admin_token', null]);
  const { cookie } = browser;
  t.equal((await browser.delete(SESSION)).status, 200);
  t.equal(browser.cookie, undefined);
  browser.cookie = cookie;
  t.same(refusalOf(await browser.get(SESSION)), NOT_SIGNED_IN);
  t.same(refusalOf(await browser.get('/api/key/')), NOT_SIGNED_IN);
});

t.test('the session of a key that cannot manage sees only the key', async (t) => {
  const account = await world.account({ key: { canManage: false } });
  const { browser, begun } = await exchanged(account.key);
  t.match(begun.body, { key: { can_manage: false } });
  t.same(refusalOf(await browser.get('/api/account/')), [403, 'management_not_allowed', null]);
  t.same(refusalOf(await browser.post('/api/keys/', { name: 'x' })), [403, 'management_not_allowed', null]);
  t.equal((await browser.get<{ keys: unknown[] }>('/api/keys/')).body.keys.length, 1);
});

t.test('the session of the operator token has the admin API, and no account', async (t) => {
  const { browser, begun } = await exchanged(ADMIN_TOKEN);
  t.same(begun.body, { person: null, key: null, is_operator: true, memberships: [] });
  t.same((await browser.get(SESSION)).body, begun.body);
  const email = newEmail();
  t.equal((await browser.post('/api/admin/accounts/', { email })).status, 201);
  const { browser: another } = await exchanged(ADMIN_TOKEN);
  const [entry] = await world.book.auditEntries({ limit: 1 });
  t.match(entry, {
    action: 'session.create',
    actor: { type: 'operator', id: null },
    target: { type: 'session' },
  });
  t.match(await world.book.auditEntries({ limit: 1, action: 'account.create' }), [
    { actor: { type: 'operator' } },
  ]);
  t.same(refusalOf(await browser.get('/api/account/')), [401, 'missing_api_key', null]);
  t.same(refusalOf(await browser.get('/api/key/')), [401, 'missing_api_key', null]);
  t.equal((await another.delete(SESSION)).status, 200);
  t.equal((await another.get('/api/admin/accounts/')).status, 401);
  t.equal((await browser.get('/api/admin/accounts/')).status, 200, 'each ends by itself');
});

t.test('sessions survive a restart; that of the token ends when the token changes or is unset', async (t) => {
  const dataDir = t.testdir();
  const start = (adminToken: string | undefined) => startOwnGateway(t, { dataDir, config: { adminToken } });
  const first = await start(ADMIN_TOKEN);
  const { key } = await first.account();
  const { browser: operator } = await exchanged(ADMIN_TOKEN, first);
  const { browser: holder } = await exchanged(key, first);
  await first.close();
  for (const [adminToken, status] of [
    [ADMIN_TOKEN, 200],
    ['another token of the operator', 401],
    [undefined, 401],
  ] as const) {
    const next = await start(adminToken);
    const moved = ({ cookie }: Browser) => Object.assign(new Browser(next), { cookie });
    t.equal((await moved(operator).get(SESSION)).status, status);
    t.equal((await moved(operator).get('/api/admin/accounts/')).status, status);
    t.equal((await moved(holder).get('/api/account/')).status, 200, 'a key does not care');
    await next.close();
  }
});

t.test('a session ends with its key, at the very next request, and does not come back', async (t) => {
  const ends: Readonly<Record<string, (account: TestAccount) => Promise<{ status: number }>>> = {
    deactivated: (account) => changeKey(account, { is_active: false }),
    expired: (account) => changeKey(account, { expires_at: '2020-01-01T00:00:00Z' }),
    deleted: ({ accountId, keyId }) =>
      apiOf(world, ADMIN_TOKEN).delete(`/api/admin/accounts/${accountId}/keys/${keyId}/`),
    'rotated away': (account) =>
      keyOf(account).post(`/api/keys/${account.keyId}/rotate/`, { grace_seconds: 0 }),
    'of a deactivated account': ({ accountId }) =>
      apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${accountId}/`, { is_active: false }),
  };
  for (const [how, end] of Object.entries(ends)) {
    const account = await world.account();
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => exchanged(account.key)));
    t.equal((await end(account)).status, 200, how);
    t.same(refusalOf((await first?.browser.get('/api/account/')) as never), NOT_SIGNED_IN, how);
    t.same(refusalOf((await second?.browser.get(SESSION)) as never), NOT_SIGNED_IN, how);
    const isActive = { is_active: true, expires_at: null };
    await apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${account.accountId}/`, { is_active: true });
    await changeKey(account, isActive);
    for (const ended of [first, second])
      t.same(
        refusalOf((await ended?.browser.get(SESSION)) as never),
        NOT_SIGNED_IN,
        `${how}, then active again`,
      );
    if (how !== 'expired')
      t.same(refusalOf((await third?.browser.get(SESSION)) as never), NOT_SIGNED_IN, `${how}, never asked`);
  }
});

t.test('the session of a previous value reads in the grace, changes nothing, and ends with it', async (t) => {
  const account = await world.account();
  const { browser } = await exchanged(account.key);
  const rotated = await keyOf(account).post<{ key: string }>(`/api/keys/${account.keyId}/rotate/`, {
    grace_seconds: 3_600,
  });
  t.equal((await browser.get('/api/account/')).status, 200);
  t.same(refusalOf(await browser.post('/api/keys/', { name: 'x' })), [403, 'management_not_allowed', null]);
  t.equal((await exchanged(account.key)).begun.status, 200, 'the value can still be exchanged');
  await apiOf(world, rotated.body.key).post(`/api/keys/${account.keyId}/rotate/`, { end_grace: true });
  t.same(refusalOf(await browser.get('/api/account/')), NOT_SIGNED_IN);
});

t.test("a key's restrictions hold for its sessions", async (t) => {
  const account = await world.account();
  const { browser } = await exchanged(account.key);
  t.equal((await changeKey(account, { allowed_ips: ['192.0.2.7'] })).status, 200);
  t.same(refusalOf(await browser.get('/api/key/')), [403, 'ip_not_allowed', null]);
  t.same(refusalOf(await browser.get(SESSION)), [403, 'ip_not_allowed', null]);
  t.same(refusalOf(await browser.post(SESSION, { key: account.key })), [403, 'ip_not_allowed', null]);
  const allowed = { 'x-forwarded-for': '192.0.2.7' };
  t.equal((await browser.get('/api/key/', allowed)).status, 200, 'the session goes on where it is allowed');
  await changeKey(account, { allowed_ips: [], allowed_origins: ['https://app.example'] });
  t.same(refusalOf(await browser.get('/api/key/')), [403, 'origin_not_allowed', null]);
  t.equal((await browser.get('/api/key/', { origin: 'https://app.example' })).status, 200);
  t.equal((await browser.delete(SESSION)).status, 200, 'whoever may not use it can sign out');
});

t.test('changes need JSON and an own origin', async (t) => {
  const account = await world.account();
  const { browser } = await exchanged(account.key);
  const operator = (await exchanged(ADMIN_TOKEN)).browser;
  const refused: [Record<string, string>, number, string][] = [
    [{ 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    [{ 'sec-fetch-site': 'cross-site' }, 403, 'cross_site'],
  ];
  for (const [headers, status, code] of refused) {
    t.same(refusalOf(await browser.post(SESSION, { key: account.key }, headers)), [status, code, null]);
    t.same(refusalOf(await browser.post('/api/keys/', { name: 'x' }, headers)), [status, code, null]);
    t.same(refusalOf(await browser.delete(SESSION, headers)), [status, code, null]);
    t.same(refusalOf(await operator.post('/api/admin/accounts/', { email: newEmail() }, headers)), [
      status,
      code,
      null,
    ]);
  }
  const read = await browser.get('/api/account/', { origin: 'https://elsewhere.example' });
  t.equal(read.headers.get('access-control-allow-origin'), null);
});

t.test('a wrong key or token gets what it gets as a bearer token, and is recorded', async (t) => {
  const { key } = await world.account();
  const browser = new Browser(world, from());
  const unknown = `${key.slice(0, -8)}AAAAAAAA`;
  t.same(refusalOf(await browser.post(SESSION, { key: unknown })), [401, 'invalid_api_key', null]);
  const [entry] = await world.book.auditEntries({ limit: 1 });
  t.match(entry, {
    action: 'session.fail',
    actor: { type: 'system' },
    target: { type: 'key', id: null },
    after: { code: 'invalid_api_key' },
    ip: browser.headers['x-forwarded-for'],
  });
  t.notMatch(JSON.stringify(entry), unknown.slice(8));
  for (let tries = 0; tries < 10; tries++)
    t.same(refusalOf(await browser.post(SESSION, { key: 'guess' })), [401, 'invalid_admin_token', null]);
  const refused = await browser.post(SESSION, { key: ADMIN_TOKEN });
  t.same(refusalOf(refused), [429, 'rate_limit_exceeded', null]);
  t.ok(Number(refused.headers.get('retry-after')) > 0);
  const bearer = { authorization: `Bearer ${ADMIN_TOKEN}` };
  t.equal((await browser.get('/api/admin/accounts/', bearer)).status, 429, 'counted together');
  t.equal((await browser.post(SESSION, { key })).status, 200, 'a key is no guess');
});

t.test('ten mistyped keys lock nobody out', async (t) => {
  const { key } = await world.account();
  const browser = new Browser(world, from());
  for (let tries = 0; tries < 11; tries++) {
    const mistyped = `${key.slice(0, -3)}${tries}`;
    t.same(refusalOf(await browser.post(SESSION, { key: mistyped })), [401, 'invalid_api_key', null]);
  }
  const bearer = { authorization: `Bearer ${ADMIN_TOKEN}` };
  t.equal((await browser.get('/api/admin/accounts/', bearer)).status, 200);
  t.equal((await browser.post(SESSION, { key: ADMIN_TOKEN })).status, 200);
});

t.test('a key or token works as it was pasted; quotes alone are none', async (t) => {
  const { key } = await world.account();
  for (const value of [key, ADMIN_TOKEN])
    for (const pasted of [`"${value}"`, `'${value}'`, `Bearer ${value}`, ` "bearer  ${value}" \n`])
      t.equal((await exchanged(pasted)).begun.status, 200, pasted);
  const browser = new Browser(world, from());
  for (const empty of ['', '""', ' Bearer '])
    t.same(refusalOf(await browser.post(SESSION, { key: empty })), [400, 'invalid_field', 'key'], empty);
});

t.test('a sign-in ends the session that the browser had', async (t) => {
  const { key } = await world.account();
  const { email } = await personOn(world);
  const { browser } = await exchanged(key);
  const old = { cookie: browser.cookie ?? '' };
  t.equal((await browser.get(SESSION, old)).status, 200);
  t.equal((await browser.signIn(email)).status, 200);
  t.same(refusalOf(await new Browser(world, from()).get(SESSION, old)), NOT_SIGNED_IN);
  const ofPerson = { cookie: browser.cookie ?? '' };
  await browser.post(SESSION, { key: 'wrong' });
  t.equal((await browser.get(SESSION, ofPerson)).status, 200, 'a failed one ends nothing');
  t.equal((await browser.post(SESSION, { key })).status, 200);
  t.same(refusalOf(await new Browser(world, from()).get(SESSION, ofPerson)), NOT_SIGNED_IN);
  const ended = await world.book.auditEntries({ limit: 2 });
  t.match(ended, [{ action: 'session.create' }, { action: 'session.end' }]);
});

t.test('a sign-in is with a key, or with an e-mail address and a password', async (t) => {
  const { key } = await world.account();
  const { email } = await personOn(world);
  const browser = new Browser(world, from());
  const bodies: [object, string][] = [
    [{ key, email }, 'key'],
    [{ key, password: PASSWORD }, 'key'],
    [{ key: 1 }, 'key'],
    [{ email }, 'password'],
    [{ password: PASSWORD }, 'email'],
    [{}, 'email'],
  ];
  for (const [body, field] of bodies)
    t.same(refusalOf(await browser.post(SESSION, body)), [400, 'invalid_field', field]);
  const person = await browser.post<SessionView>(SESSION, { email, password: PASSWORD });
  t.match(person.body, { person: { email }, key: null, is_operator: false, memberships: [] });
});

t.test('what only people have is refused to other sessions', async (t) => {
  const { key } = await world.account();
  for (const credential of [key, ADMIN_TOKEN]) {
    const { browser } = await exchanged(credential);
    for (const path of ['/api/session/sessions/', '/api/session/identities/'])
      t.same(refusalOf(await browser.get(path)), [403, 'not_permitted', null], path);
    t.same(refusalOf(await browser.patch('/api/session/person/', { name: 'Eve' })), [
      403,
      'not_permitted',
      null,
    ]);
    const accept = await browser.post('/api/invitations/accept/', { secret: 'x' });
    t.same(refusalOf(accept), [403, 'not_permitted', null]);
  }
});

t.test('the models of a session are those that its key or person can call', async (t) => {
  const account = await world.account({ key: { allowedModels: ['flat'] } });
  const { browser } = await exchanged(account.key);
  const path = '/api/account/models/';
  const own = await browser.get<ModelListView>(path);
  t.same(own.body, (await keyOf(account).get('/v1/models')).body);
  t.same(
    own.body.data.map(({ id }) => id),
    ['flat'],
  );
  t.same((await keyOf(account).get(path)).body, own.body, 'by the key too');
  const all = [...world.config.catalog.keys()];
  for (const role of ['owner', 'admin', 'billing', 'member', 'viewer'] as const) {
    const member = await memberOf(world, account.accountId, role);
    t.same(
      (await member.get<ModelListView>(path)).body.data.map(({ id }) => id),
      all,
      role,
    );
  }
  t.same((await browser.get<ModelListView>(`${path}?limit=1`)).body.data.length, 1);
  t.same(refusalOf(await browser.get(`${path}?after_id=none`)), [400, 'invalid_field', 'after_id']);
  t.equal((await browser.get('/v1/models')).status, 401, 'model calls take keys alone');
});

t.test('keys of a person end their sessions with the membership', async (t) => {
  const account = await world.account();
  const member = await memberOf(world, account.accountId, 'member');
  const made = await member.post<{ key: string }>('/api/keys/', { name: 'own' });
  const { browser } = await exchanged(made.body.key);
  t.equal((await browser.get('/api/key/')).status, 200);
  await world.book.updatePerson(member.id, { isActive: false }, COMMAND_LINE, Date.now());
  t.same(refusalOf(await browser.get('/api/key/')), NOT_SIGNED_IN);
});
