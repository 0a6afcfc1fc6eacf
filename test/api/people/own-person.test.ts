import t from 'tap';
import { SYSTEM } from '../../../src/domain/actor.ts';
import { newSecret } from '../../../src/people/sessions.ts';
import { refusalOf } from '../../helper/clients/api.ts';
import { Browser, PASSWORD } from '../../helper/clients/browser.ts';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';
import { newEmail, signedIn } from '../../helper/start/people.ts';

const world = await startGatewayInProcess(t);
const PATH = '/api/session/person/';
const NEW = 'another long password';

t.test('a new password needs the present one, and ends all other sessions', async (t) => {
  const { person, browser } = await signedIn(world);
  const other = new Browser(world);
  await other.signIn(person.email);
  t.same(refusalOf(await browser.patch(PATH, { password: NEW })), [400, 'invalid_field', 'current_password']);
  const wrong = { password: NEW, current_password: NEW };
  t.same(refusalOf(await browser.patch(PATH, wrong)), [403, 'invalid_credentials', 'current_password']);
  t.equal((await other.get('/api/session/')).status, 200);
  const right = { password: NEW, current_password: PASSWORD };
  t.equal((await browser.patch(PATH, right)).status, 200);
  t.equal((await browser.get('/api/session/')).status, 200);
  t.equal((await other.get('/api/session/')).status, 401);
  t.equal((await other.signIn(person.email)).status, 401);
  t.equal((await other.signIn(person.email, NEW)).status, 200);
});

t.test('a wrong present password is a failure', async (t) => {
  const { browser } = await signedIn(world);
  const wrong = { password: NEW, current_password: 'wrong password' };
  for (let failed = 0; failed < 10; failed++) t.equal((await browser.patch(PATH, wrong)).status, 403);
  t.equal((await browser.patch(PATH, { password: NEW, current_password: PASSWORD })).status, 429);
});

t.test('passwords have 10 to 200 characters, as they are', async (t) => {
  const { person, browser } = await signedIn(world);
  let current = PASSWORD;
  const change = async (password: string) => {
    const answer = await browser.patch(PATH, { password, current_password: current });
    if (answer.status === 200) current = password;
    return refusalOf(answer);
  };
  for (const password of [
    '',
    'x'.repeat(9),
    'x'.repeat(201),
    '\u{1f511}'.repeat(9),
    '\u{1f511}'.repeat(201),
    '\ud800'.repeat(12),
  ])
    t.same(await change(password), [400, 'invalid_field', 'password'], password);
  for (const password of ['x'.repeat(200), ' \u{1f511}'.repeat(5), '\u{1f511}'.repeat(200), '  spaces  ']) {
    t.same(await change(password), [200, undefined, undefined], password);
    t.equal((await new Browser(world).signIn(person.email, password)).status, 200);
  }
  t.equal((await new Browser(world).signIn(person.email, current.trim())).status, 401);
});

t.test('a person without a password sets one within 10 minutes of a sign-in', async (t) => {
  const person = await world.book.createPerson(newEmail(), newSecret().hash, SYSTEM, Date.now());
  // As an identity provider signs in.
  const signInAgo = async (ms: number) => {
    const { secret, hash } = newSecret();
    const session = { personId: person.id, secretHash: hash, network: '::/64', userAgent: null };
    await world.book.createSession(session, SYSTEM, Date.now() - ms);
    const browser = new Browser(world);
    browser.cookie = `tollgate=${secret}`;
    return browser;
  };
  const late = await signInAgo(601_000);
  t.same(refusalOf(await late.patch(PATH, { password: NEW })), [403, 'sign_in_again', null]);
  t.equal((await late.patch(PATH, { name: 'Grace' })).status, 200);
  const recent = await signInAgo(60_000);
  t.equal((await recent.patch(PATH, { password: NEW })).status, 200);
  t.equal((await new Browser(world).signIn(person.email, NEW)).status, 200);
});

t.test('a name changes; other fields are refused', async (t) => {
  const { browser } = await signedIn(world);
  t.match((await browser.patch(PATH, { name: 'Ada Lovelace' })).body, { name: 'Ada Lovelace' });
  for (const [field, value] of [
    ['email', newEmail()],
    ['is_operator', true],
    ['is_active', false],
  ] as const)
    t.same(refusalOf(await browser.patch(PATH, { [field]: value })), [400, 'invalid_field', field]);
});

t.test('sessions are listed, and end one by one or all at once', async (t) => {
  const { person, browser } = await signedIn(world);
  const others = [new Browser(world, { 'user-agent': 'second' }), new Browser(world), new Browser(world)];
  for (const other of others) await other.signIn(person.email);
  interface List {
    readonly sessions: { id: number; ip: string; user_agent: string; is_current: boolean }[];
  }
  const { sessions } = (await browser.get<List>('/api/session/sessions/')).body;
  t.same(
    sessions.map(({ is_current }) => is_current),
    [false, false, false, true],
  );
  t.match(sessions[2], { ip: '127.0.0.1', user_agent: 'second' });
  const [newest, , second] = sessions;
  t.equal((await browser.delete(`/api/session/sessions/${second?.id}/`)).status, 200);
  t.equal((await others[0]?.get('/api/session/'))?.status, 401);
  t.equal((await others[1]?.get('/api/session/'))?.status, 200);
  t.same(refusalOf(await browser.delete(`/api/session/sessions/${second?.id}/`)), [
    404,
    'session_not_found',
    null,
  ]);
  const stranger = await signedIn(world);
  t.equal((await stranger.browser.delete(`/api/session/sessions/${newest?.id}/`)).status, 404);
  t.equal((await browser.delete('/api/session/sessions/')).status, 200);
  for (const ended of [...others, browser]) t.equal((await ended.get('/api/session/')).status, 401);
  t.equal((await stranger.browser.get('/api/session/')).status, 200);
});
