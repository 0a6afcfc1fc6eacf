import t from 'tap';
import { DEMO_EMAIL } from '../../../src/domain/people.ts';
import { apiOf, refusalOf } from '../../helper/clients/api.ts';
import { Browser, PASSWORD } from '../../helper/clients/browser.ts';
import {
  ADMIN_TOKEN,
  startGatewayInProcess,
  startOwnGateway,
} from '../../helper/start/gateway-in-process.ts';
import { newEmail } from '../../helper/start/people.ts';

const CODE = 'the-code-of-this-gateway';
const SETUP = '/api/setup/';

interface SessionBody {
  readonly person: { readonly id: number; readonly is_operator: boolean };
  readonly memberships: readonly { account: { id: number; name: string }; role: string }[];
}

t.test(
  'the first person is an operator, owns the demo account, and is signed in; the code works once',
  async (t) => {
    const world = await startOwnGateway(t, { setupCode: CODE });
    const { accountId } = await world.account({ email: DEMO_EMAIL });
    const browser = new Browser(world);
    const body = { code: CODE, email: newEmail(), name: 'Ada', password: PASSWORD };
    t.same(refusalOf(await browser.post(SETUP, { ...body, code: `${CODE}x` })), [410, 'setup_gone', null]);
    t.same(refusalOf(await browser.post(SETUP, { ...body, password: 'short' })), [
      400,
      'invalid_field',
      'password',
    ]);
    const made = await browser.post<SessionBody>(SETUP, body);
    t.equal(made.status, 201);
    t.equal(made.headers.get('cache-control'), 'no-store');
    t.match(made.body, {
      person: { name: 'Ada', is_operator: true, is_active: true },
      memberships: [{ account: { id: accountId, name: DEMO_EMAIL }, role: 'owner', is_active: true }],
    });
    t.same((await browser.get('/api/session/')).body, made.body);
    t.equal((await browser.get('/api/admin/accounts/')).status, 200);
    t.equal((await browser.get('/api/account/')).status, 200, 'the only membership names the account');
    t.equal((await new Browser(world).post(SETUP, { ...body, email: newEmail() })).status, 410);
    await apiOf(world, ADMIN_TOKEN).patch(`/api/admin/people/${made.body.person.id}/`, { is_active: false });
    t.equal(
      (await new Browser(world).post(SETUP, { ...body, email: newEmail() })).status,
      410,
      'an inactive one exists',
    );
  },
);

t.test('of setups at once, one wins', async (t) => {
  const world = await startOwnGateway(t, { setupCode: CODE });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      new Browser(world).post(SETUP, { code: CODE, email: newEmail(), name: 'Ada', password: PASSWORD }),
    ),
  );
  t.same(answers.map(({ status }) => status).sort(), [201, 410, 410, 410, 410]);
  t.equal((await world.book.persons(0, 10)).length, 1);
});

t.test('a gateway that printed no code has none', async (t) => {
  const world = await startGatewayInProcess(t);
  const body = { code: '', email: newEmail(), name: 'Ada', password: PASSWORD };
  for (const code of ['', 'undefined', CODE])
    t.same(refusalOf(await new Browser(world).post(SETUP, { ...body, code })), [410, 'setup_gone', null]);
});

t.test("the command line's link makes an operator of its e-mail address, once, at any time", async (t) => {
  const world = await startOwnGateway(t, { setupCode: CODE });
  const operator = apiOf(world, ADMIN_TOKEN);
  await new Browser(world).post(SETUP, { code: CODE, email: newEmail(), name: 'Ada', password: PASSWORD });
  const email = newEmail();
  const { status, body } = await operator.post<{ link: string }>('/api/admin/people/', {
    email,
    is_operator: true,
  });
  t.equal(status, 201);
  const [address = '', code] = body.link.split('#');
  t.equal(address, `${world.url}/dashboard/setup`);
  const wanted = { code, email: email.toUpperCase(), name: 'Grace', password: PASSWORD };
  t.equal(
    (await new Browser(world).post(SETUP, { ...wanted, email: newEmail() })).status,
    410,
    'for that address',
  );
  const browser = new Browser(world);
  t.match(await browser.post(SETUP, wanted), {
    status: 201,
    body: { person: { is_operator: true }, memberships: [] },
  });
  t.equal((await new Browser(world).post(SETUP, { ...wanted, email: newEmail() })).status, 410);
  t.same(refusalOf(await operator.post('/api/admin/people/', { email, is_operator: true })), [
    409,
    'email_taken',
    'email',
  ]);
  t.same(refusalOf(await operator.post('/api/admin/people/', { email })), [409, 'email_taken', 'email']);
});
