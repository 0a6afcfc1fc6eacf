import t from 'tap';
import { SYSTEM } from '../../../src/domain/actor.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import { Browser, PASSWORD } from '../../helper/clients/browser.ts';
import {
  ADMIN_TOKEN,
  startGatewayInProcess,
  startOwnGateway,
} from '../../helper/start/gateway-in-process.ts';
import { newEmail, personOn, signedIn } from '../../helper/start/people.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const PEOPLE = '/api/admin/people/';
const NEW = 'another long password';

t.test('an operator has the admin API by session, others have not', async (t) => {
  const { person, browser } = await signedIn(world, { isOperator: true });
  t.equal((await browser.get('/api/admin/accounts/')).status, 200);
  const email = newEmail();
  t.equal((await browser.post('/api/admin/accounts/', { email })).status, 201);
  t.same(
    refusalOf(await browser.post('/api/admin/accounts/', { email }, { 'sec-fetch-site': 'cross-site' })),
    [403, 'cross_site', null],
  );
  const wrong = { authorization: 'Bearer wrong-token', 'x-forwarded-for': '203.0.113.9' };
  t.same(refusalOf(await browser.get('/api/admin/accounts/', wrong)), [401, 'invalid_admin_token', null]);
  const other = await signedIn(world);
  t.same(refusalOf(await other.browser.get('/api/admin/accounts/')), [403, 'not_permitted', null]);
  await operator.patch(`${PEOPLE}${person.id}/`, { is_operator: false });
  t.equal((await browser.get('/api/admin/accounts/')).status, 403, 'at the very next request');
});

t.test('the audit log names the person, not the token, of a session', async (t) => {
  const { person, browser } = await signedIn(world, { isOperator: true, name: 'Grace' });
  const other = await personOn(world);
  await browser.patch(`${PEOPLE}${other.id}/`, { name: 'Renamed' });
  const [entry] = await world.book.auditEntries({ accountId: undefined, limit: 1 });
  t.match(entry, {
    actor: { type: 'person', id: person.id, name: 'Grace' },
    action: 'person.update',
    target: { type: 'person', id: String(other.id), name: 'Renamed' },
    before: { name: 'Ada' },
    after: { name: 'Renamed' },
    ip: '127.0.0.1',
  });
  t.match(entry?.requestId, /^req_/);
});

t.test('people are listed by page', async (t) => {
  for (let made = 0; made < 3; made++) await personOn(world);
  interface Page {
    readonly people: { readonly id: number }[];
    readonly next: string | null;
  }
  const ids: number[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const { body }: { body: Page } = await operator.get(`${PEOPLE}?limit=2${next && `&after=${next}`}`);
    t.ok(body.people.length <= 2);
    ids.push(...body.people.map(({ id }) => id));
    next = body.next;
  }
  t.same(
    ids,
    (await world.book.persons(0, 1_000)).map(({ id }) => id),
  );
});

t.test('a person changes; an address of another is refused', async (t) => {
  const [one, two] = [await personOn(world), await personOn(world)];
  const email = newEmail();
  t.match(await operator.patch(`${PEOPLE}${one.id}/`, { name: 'Ada L.', email }), {
    status: 200,
    body: { id: one.id, name: 'Ada L.', email },
  });
  t.equal((await new Browser(world).signIn(email)).status, 200);
  t.same(refusalOf(await operator.patch(`${PEOPLE}${one.id}/`, { email: two.email.toUpperCase() })), [
    409,
    'email_taken',
    'email',
  ]);
  for (const id of ['999999', '0', 'x'])
    t.same(refusalOf(await operator.patch(`${PEOPLE}${id}/`, {})), [404, 'person_not_found', null]);
});

t.test('a deactivated person is signed out at once, and their keys are refused', async (t) => {
  const { person, browser } = await signedIn(world);
  const { accountId, keyId, key } = await world.account({ key: { personId: person.id } });
  t.equal((await world.chat(key)).status, 200);
  t.equal((await operator.patch(`${PEOPLE}${person.id}/`, { is_active: false })).status, 200);
  t.equal((await browser.get('/api/session/')).status, 401);
  t.equal((await browser.signIn(person.email)).status, 401);
  t.equal((await world.chat(key)).status, 401);
  await operator.patch(`${PEOPLE}${person.id}/`, { is_active: true });
  t.equal((await browser.signIn(person.email)).status, 200);
  t.equal((await world.chat(key)).status, 401, 'keys stay inactive');
  t.equal((await world.book.key(accountId, keyId))?.isActive, false);
});

t.test('a reset changes nothing until it is used; then it works once and ends all sessions', async (t) => {
  const { person, browser } = await signedIn(world);
  const { status, body } = await operator.post<{ link: string; mailed: boolean }>(
    `${PEOPLE}${person.id}/reset/`,
  );
  t.equal(status, 200);
  t.equal(body.mailed, false);
  const [address = '', secret] = body.link.split('#');
  t.equal(address, `${world.url}/dashboard/reset`);
  t.equal((await browser.get('/api/session/')).status, 200);
  const stranger = new Browser(world);
  const reset = (password: string) => stranger.post('/api/session/reset/', { secret, password });
  t.same(refusalOf(await reset('short')), [400, 'invalid_field', 'password']);
  const answers = await Promise.all([reset(NEW), reset(NEW), reset(NEW)]);
  t.same(answers.map((answer) => answer.status).sort(), [200, 410, 410]);
  t.same(refusalOf(await reset(NEW)), [410, 'reset_gone', null]);
  t.equal((await browser.get('/api/session/')).status, 401);
  t.equal((await browser.signIn(person.email, PASSWORD)).status, 401);
  t.equal((await browser.signIn(person.email, NEW)).status, 200);
  t.same(refusalOf(await operator.post(`${PEOPLE}999999/reset/`)), [404, 'person_not_found', null]);
});

t.test('a new person sets a password by the link', async (t) => {
  const email = newEmail();
  const { body } = await operator.post<{ link: string }>(PEOPLE, { email });
  const [, secret] = body.link.split('/dashboard/reset#');
  const browser = new Browser(world);
  t.equal((await browser.signIn(email)).status, 401);
  t.equal((await browser.post('/api/session/reset/', { secret, password: NEW })).status, 200);
  t.equal((await browser.signIn(email, NEW)).status, 200);
});

t.test('without ADMIN_TOKEN every token gets 401, and the last active operator stays', async (t) => {
  const own = await startOwnGateway(t, { config: { adminToken: undefined } });
  for (const token of ['undefined', ADMIN_TOKEN])
    t.same(refusalOf(await apiOf(own, token).get(PEOPLE)), [401, 'invalid_admin_token', null]);
  t.equal((await new Browser(own).get(PEOPLE)).status, 401);
  const first = await signedIn(own, { isOperator: true });
  const change = (id: number, fields: object) => first.browser.patch(`${PEOPLE}${id}/`, fields);
  t.same(refusalOf(await change(first.person.id, { is_operator: false })), [409, 'last_operator', null]);
  t.same(refusalOf(await change(first.person.id, { is_active: false })), [409, 'last_operator', null]);
  t.equal((await change(first.person.id, { name: 'Still here' })).status, 200);
  const second = await signedIn(own, { isOperator: true });
  await change(second.person.id, { is_active: false });
  t.equal(
    (await change(first.person.id, { is_operator: false })).status,
    409,
    'an inactive one does not count',
  );
  await change(second.person.id, { is_active: true });
  await second.browser.signIn(second.person.email);
  const both = await Promise.all([
    change(second.person.id, { is_operator: false }),
    second.browser.patch(`${PEOPLE}${first.person.id}/`, { is_operator: false }),
  ]);
  t.equal(both.filter(({ status }) => status === 200).length, 1, 'of two at once, one stays');
});

t.test('an erased person leaves ids and nothing else', async (t) => {
  const own = await startOwnGateway(t);
  const admin = apiOf(own, ADMIN_TOKEN);
  const { person, browser } = await signedIn(own, { email: 'Ada.Secret@example.com', name: 'Ada Secret' });
  const { accountId, key } = await own.account({ key: { personId: person.id }, email: 'owner@example.com' });
  const offer = { role: 'member', canCreateKeys: true, spendingLimits: [], secretHash: 'x' } as const;
  const invitation = { ...offer, email: 'ada.secret@example.com', name: 'Ada Secret' };
  const changer = { by: SYSTEM, roles: new Set(['member'] as const) };
  await own.book.createInvitation(accountId, invitation, changer, Date.now());
  await new Browser(own, { 'x-forwarded-for': '203.0.113.77' }).signIn(person.email);
  await new Browser(own, { 'x-forwarded-for': '203.0.113.78' }).signIn(person.email, 'wrong password');
  await admin.patch(`${PEOPLE}${person.id}/`, { email: 'new.secret@example.com' });
  t.equal((await admin.delete(`${PEOPLE}${person.id}/`)).status, 200);
  t.equal((await browser.get('/api/session/')).status, 401);
  t.equal((await browser.signIn('new.secret@example.com')).status, 401);
  t.equal((await own.chat(key)).status, 401);
  t.equal(await own.book.person(person.id), undefined);
  const entries = await own.book.auditEntries({ limit: 200 });
  t.ok(entries.length > 5);
  t.notMatch(JSON.stringify(entries), /secret@|Ada Secret|203\.0\.113/i);
  t.same(await own.book.invitations(accountId, Date.now()), []);
  t.same(refusalOf(await admin.delete(`${PEOPLE}999999/`)), [404, 'person_not_found', null]);
});

t.test('people are found by a part of their name or e-mail address, in any case', async (t) => {
  const admin = apiOf(world, ADMIN_TOKEN);
  const person = await personOn(world, { name: 'Zoë 100% Quill', email: 'zq_1@example.com' });
  const found = async (search: string) => {
    const query = new URLSearchParams({ search });
    const { body } = await admin.get<{ people: { id: number }[] }>(`/api/admin/people/?${query}`);
    return body.people.map(({ id }) => id);
  };
  t.same(await found('100% q'), [person.id]);
  t.same(await found('ZQ_1@'), [person.id]);
  t.same(await found('zq%1'), [], 'no pattern');
});
