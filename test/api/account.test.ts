import t from 'tap';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

interface Account {
  readonly id: number;
  readonly email: string;
  readonly credits_balance: number;
  readonly credits_held: number;
  readonly alert_threshold: number;
  readonly overdraft: number;
  readonly webhook_secret?: string;
  readonly created_at: string;
}

t.test('an owner sees their account', async (t) => {
  const { key, accountId } = await world.account({
    credits: 12.5,
    threshold: 3,
    overdraft: 2.5,
    email: 'own@example.com',
  });
  const { status, body } = await apiOf(world, key).get<Account>('/api/account/');
  t.equal(status, 200);
  t.match(body.webhook_secret, /^whsec_/);
  t.match(body.created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  t.same(body, {
    id: accountId,
    email: 'own@example.com',
    name: 'own@example.com',
    credits_balance: 12.5,
    credits_held: 0,
    alert_threshold: 3,
    overdraft: 2.5,
    spending_limits: [],
    limits: [],
    rpm_limit: null,
    tpm_limit: null,
    max_parallel_requests: null,
    webhook_secret: body.webhook_secret,
    created_at: body.created_at,
  });
});

t.test('the account is for keys that may manage only', async (t) => {
  const { key } = await world.account({ key: { canManage: false } });
  const answer = await apiOf(world, key).get('/api/account/');
  t.same(refusalOf(answer), [403, 'management_not_allowed', null]);
});

t.test('credits held for a call in flight are shown, and given back when it ends', async (t) => {
  const mayEnd = Promise.withResolvers<undefined>();
  const provider = await startScriptedProvider({ behave: () => mayEnd.promise, record: true });
  t.teardown(() => provider.close());
  const slow = await startGatewayInProcess(t, { provider });
  const { key } = await slow.account({ credits: 10 });
  const call = slow.chat(key);
  await provider.request(0);
  const during = await apiOf(slow, key).get<Account>('/api/account/');
  t.same([during.body.credits_balance, during.body.credits_held], [10, 1]);
  mayEnd.resolve(undefined);
  await (await call).text();
  await slow.settled();
  const after = await apiOf(slow, key).get<Account>('/api/account/');
  t.same([after.body.credits_balance, after.body.credits_held], [9, 0]);
});

t.test('the threshold is set with up to six decimals, and counts from then on', async (t) => {
  const { key } = await world.account({ threshold: 100 });
  const api = apiOf(world, key);
  const { status, body } = await api.patch<Account>('/api/account/', { alert_threshold: 0.000001 });
  t.same([status, body.alert_threshold], [200, 0.000001]);
  t.match(body.webhook_secret, /^whsec_/);
  t.equal((await api.get<Account>('/api/account/')).body.alert_threshold, 0.000001);
});

t.test('an empty PATCH changes nothing', async (t) => {
  const { key } = await world.account({ threshold: 7 });
  const { status, body } = await apiOf(world, key).patch<Account>('/api/account', {});
  t.same([status, body.alert_threshold], [200, 7]);
});

t.test('a bad PATCH is refused by name and changes nothing', async (t) => {
  const { key } = await world.account({ threshold: 7 });
  const api = apiOf(world, key);
  for (const value of [-1, '5', null, 0.0000001, 1e12]) {
    const answer = await api.patch('/api/account/', { alert_threshold: value });
    t.same(refusalOf(answer), [400, 'invalid_field', 'alert_threshold'], JSON.stringify(value));
  }
  t.same(
    refusalOf(await api.patch('/api/account/', { overdraft: 5 })),
    [400, 'invalid_field', 'overdraft'],
    'the operator sets it',
  );
  const unknown = await api.patch('/api/account/', { alert_threshold: 1, email: 'a@b.c' });
  t.same(refusalOf(unknown), [400, 'invalid_field', 'email']);
  t.same(refusalOf(await api.patch('/api/account/', [])), [400, 'invalid_json', null]);
  t.equal((await api.get<Account>('/api/account/')).body.alert_threshold, 7);
});
