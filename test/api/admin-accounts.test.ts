import t from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);

interface Account {
  readonly id: number;
  readonly email: string;
  readonly is_active: boolean;
  readonly credits_balance: number;
  readonly credits_held: number;
  readonly alert_threshold: number;
  readonly overdraft: number;
  readonly created_at: string;
}
interface Created {
  readonly account: Account;
  readonly key: CreatedKeyView;
}
interface Page {
  readonly accounts: readonly Account[];
  readonly next: string | null;
}

let emails = 0;
const newEmail = () => `customer${emails++}@example.com`;
const create = (more: object = {}) =>
  operator.post<Created>('/api/admin/accounts/', { email: newEmail(), ...more });

t.test('an account is created with credits and a first key that may manage', async (t) => {
  const email = newEmail();
  const { status, body } = await operator.post<Created>('/api/admin/accounts/', {
    email,
    credits: 12.345678,
    alert_threshold: 5,
    overdraft: 2.5,
  });
  t.equal(status, 201);
  t.same(body.account, {
    id: body.account.id,
    email,
    name: email,
    is_active: true,
    credits_balance: 12.345678,
    credits_held: 0,
    alert_threshold: 5,
    overdraft: 2.5,
    spending_limits: [],
    limits: [],
    rpm_limit: null,
    tpm_limit: null,
    max_parallel_requests: null,
    created_at: body.account.created_at,
  });
  t.same(Object.keys(body.key).sort(), ['_service', 'created_at', 'id', 'key', 'name', 'prefix']);
  t.equal(body.key.name, 'default');
  const owner = apiOf(world, body.key.key);
  const { body: listed } = await owner.get<{ keys: KeyView[] }>('/api/keys/');
  t.match(listed.keys, [{ id: body.key.id, can_manage: true }]);
  t.equal((await world.chat(body.key.key)).status, 200);
});

t.test('initial credits are the first entry of the ledger', async (t) => {
  const { body } = await create({ credits: 3 });
  await world.settled();
  const ledger = await apiOf(world, body.key.key).get('/api/account/ledger/');
  t.match(ledger.body, { entries: [{ type: 'top_up', credits: '3.000000', balance_after: '3.000000' }] });
});

t.test(
  'an account without credits has none, an empty ledger, a threshold of 100 and no overdraft',
  async (t) => {
    const { body } = await create();
    t.match(body.account, { credits_balance: 0, alert_threshold: 100, overdraft: 0 });
    await world.settled();
    t.same((await apiOf(world, body.key.key).get('/api/account/ledger/')).body, { entries: [], next: null });
    t.equal((await world.chat(body.key.key)).status, 402);
  },
);

t.test('an e-mail address is taken once', async (t) => {
  const email = newEmail();
  t.equal((await operator.post('/api/admin/accounts/', { email })).status, 201);
  t.same(refusalOf(await operator.post('/api/admin/accounts/', { email })), [409, 'email_taken', 'email']);
  const { body: other } = await create();
  const patched = await operator.patch(`/api/admin/accounts/${other.account.id}/`, { email });
  t.same(refusalOf(patched), [409, 'email_taken', 'email']);
});

const BAD: Record<string, readonly unknown[]> = {
  email: ['', 'x', '@x', 'x@', 'a@b@c', 'a b@c', 'a@b\n', 'a@b\u0000', `${'x'.repeat(251)}@b.c`, 5, null],
  alert_threshold: [-1, '1', 0.0000001, null],
  overdraft: [-1, '1', 0.0000001, 1e10, null],
  extra: [1],
};

t.test('a bad account is refused by name', async (t) => {
  for (const [field, values] of Object.entries({ ...BAD, credits: [-1, '1', 0.0000001, 1e10, null] })) {
    for (const value of values) {
      t.same(
        refusalOf(await create({ [field]: value })),
        [400, 'invalid_field', field],
        JSON.stringify(value),
      );
    }
  }
  t.same(refusalOf(await operator.post('/api/admin/accounts/', {})), [400, 'invalid_field', 'email']);
  t.same(refusalOf(await operator.post('/api/admin/accounts/')), [400, 'invalid_json', null]);
});

t.test('an account is read with its live balance and what it did lately', async (t) => {
  const { body } = await create({ credits: 5 });
  await (await world.chat(body.key.key)).text();
  await world.settled();
  const { status, body: read } = await operator.get<Account>(`/api/admin/accounts/${body.account.id}/`);
  t.equal(status, 200);
  t.match(read, {
    ...body.account,
    credits_balance: 4,
    spent_30d: '1.000000',
    lasts_days: 4,
    refused_24h: 0,
    last_used_at: /Z$/,
  });
});

t.test('accounts are listed by id, in pages', async (t) => {
  const made = [await create({ credits: 1 }), await create({ credits: 2 }), await create({ credits: 3 })];
  const ids = made.map(({ body }) => body.account.id);
  const after = (ids[0] ?? 0) - 1;
  const first = await operator.get<Page>(`/api/admin/accounts/?limit=2${after > 0 ? `&after=${after}` : ''}`);
  t.same(
    first.body.accounts.map(({ id, credits_balance }) => [id, credits_balance]),
    [
      [ids[0], 1],
      [ids[1], 2],
    ],
  );
  const second = await operator.get<Page>(`/api/admin/accounts?limit=2&after=${first.body.next}`);
  t.match(second.body, { accounts: [{ id: ids[2], credits_balance: 3 }], next: null });
  for (const query of ['limit=0', 'limit=1001', 'after=x', 'after=0']) {
    const answer = await operator.get(`/api/admin/accounts/?${query}`);
    t.same(refusalOf(answer), [400, 'invalid_field', query.split('=')[0]], query);
  }
});

t.test('a PATCH changes only the fields it names, and returns the account', async (t) => {
  const { body } = await create({ credits: 1 });
  const path = `/api/admin/accounts/${body.account.id}/`;
  const email = newEmail();
  t.same((await operator.patch(path, { email })).body, { ...body.account, email, name: email });
  t.same((await operator.patch(path, { alert_threshold: 2.5 })).body, {
    ...body.account,
    email,
    name: email,
    alert_threshold: 2.5,
  });
  const changed = { ...body.account, email, name: email, alert_threshold: 2.5 };
  t.same((await operator.patch(path, {})).body, changed);
  t.same((await operator.patch(path, { overdraft: 0.000001 })).body, { ...changed, overdraft: 0.000001 });
  t.match((await operator.get(path)).body, { ...changed, overdraft: 0.000001 });
});

t.test('a bad PATCH is refused by name and changes nothing', async (t) => {
  const { body } = await create();
  const path = `/api/admin/accounts/${body.account.id}/`;
  for (const [field, values] of Object.entries({ ...BAD, is_active: ['true', 1, null], credits: [1] })) {
    for (const value of values) {
      const answer = await operator.patch(path, { alert_threshold: 1, is_active: false, [field]: value });
      t.same(refusalOf(answer), [400, 'invalid_field', field], JSON.stringify(value));
    }
  }
  t.match((await operator.get(path)).body, body.account);
});

t.test('an inactive account is refused immediately, until it is active again', async (t) => {
  const { body } = await create({ credits: 5 });
  const path = `/api/admin/accounts/${body.account.id}/`;
  const owner = apiOf(world, body.key.key);
  t.equal((await world.chat(body.key.key)).status, 200);
  await operator.patch(path, { is_active: false });
  t.equal((await world.chat(body.key.key)).status, 403);
  t.same(refusalOf(await owner.get('/api/keys/')), [403, 'inactive_account', null]);
  await operator.patch(path, { is_active: true });
  t.equal((await world.chat(body.key.key)).status, 200);
});

t.test(
  'a key that an operator makes with limits may not lift them, unless the request says so',
  async (t) => {
    const { body } = await create();
    const path = `/api/admin/accounts/${body.account.id}/keys/`;
    const make = async (settings: object) => {
      const { status, body } = await operator.post<CreatedKeyView>(path, settings);
      t.equal(status, 201);
      return body;
    };
    const limited = await make({ name: 'limited', spending_limit: 1 });
    await make({ name: 'rpm', rpm_limit: 60 });
    await make({ name: 'tpm', tpm_limit: 1_000 });
    await make({ name: 'parallel', max_parallel_requests: 5 });
    await make({ name: 'no limit', max_parallel_requests: null });
    await make({ name: 'plain' });
    await make({ name: 'told', expires_at: '2099-01-01T00:00:00Z', can_manage: true });
    await make({ name: 'told not', can_manage: false });
    const { body: listed } = await apiOf(world, body.key.key).get<{ keys: KeyView[] }>('/api/keys/');
    t.same(
      listed.keys.map(({ name, can_manage }) => [name, can_manage]),
      [
        ['default', true],
        ['limited', false],
        ['rpm', false],
        ['tpm', false],
        ['parallel', false],
        ['no limit', true],
        ['plain', true],
        ['told', true],
        ['told not', false],
      ],
    );
    const lifted = await apiOf(world, limited.key).patch(`/api/keys/${limited.id}/`, {
      spending_limit: null,
    });
    t.same(refusalOf(lifted), [403, 'management_not_allowed', null]);
    t.same(refusalOf(await operator.post(path, { name: '' })), [400, 'invalid_field', 'name']);
  },
);

t.test('an account that is not there', async (t) => {
  for (const id of ['987654321', '0', 'x', '01', '99999999999999999999']) {
    const path = `/api/admin/accounts/${id}/`;
    const missing = [404, 'account_not_found', null];
    t.same(refusalOf(await operator.get(path)), missing, `GET ${id}`);
    t.same(refusalOf(await operator.patch(path, { is_active: true })), missing, `PATCH ${id}`);
    t.same(refusalOf(await operator.post(`${path}credits/`, { amount: 1 })), missing, `credits ${id}`);
    t.same(refusalOf(await operator.post(`${path}keys/`, { name: 'x' })), missing, `keys ${id}`);
  }
});
