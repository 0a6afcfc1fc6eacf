import t from 'tap';
import type { AccountView, OperatorAccountView } from '../../src/api/account/account-view.ts';
import { memberLimits } from '../../src/api/account/member-limits.ts';
import type { CallPageView, CallView } from '../../src/api/calls/call-view.ts';
import type { ExplanationView } from '../../src/api/explain/explanation-view.ts';
import type { CreatedKeyView, KeyView, OwnKeyView } from '../../src/api/keys/key-view.ts';
import { micro } from '../../src/domain/credits.ts';
import type { Shortfall } from '../../src/domain/errors.ts';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { periodEndsAt } from '../../src/domain/period.ts';
import { FIVE_HOURS_MS, type SpendingLimit, type WireLimit } from '../../src/domain/spending-limits.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import { newKey } from '../helper/fixtures/book-records.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const { provider, letGo } = await startWaitingProvider(t);
const world = await startGatewayInProcess(t, { provider });
const operator = apiOf(world, ADMIN_TOKEN);

/** An account with a managing key, with these spending limits of both. A call of `flat` costs 1 credit. */
async function ownerWith(ofKey: readonly WireLimit[], ofAccount: readonly WireLimit[] = []) {
  await dayThatLasts();
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const body = { spending_limits: ofKey, can_manage: true };
  await api.patch(`/api/keys/${owner.keyId}/`, body);
  await limitAccount(owner.accountId, ofAccount);
  return { ...owner, api };
}

async function limitAccount(accountId: number, spending_limits: readonly WireLimit[]): Promise<void> {
  await operator.patch(`/api/admin/accounts/${accountId}/`, { spending_limits });
}

/** A key of the owner that cannot manage. */
async function handedOut(owner: Api, more: object = {}) {
  const { body } = await owner.post<CreatedKeyView>('/api/keys/', {
    name: 'app',
    can_manage: false,
    ...more,
  });
  return { ...body, api: apiOf(world, body.key) };
}

async function spend(key: string, calls = 1): Promise<void> {
  for (let call = 0; call < calls; call++) {
    const response = await world.chat(key);
    t.equal(response.status, 200);
    await response.arrayBuffer();
  }
  await world.settled();
}

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly metadata: Shortfall;
}

async function refused(key: string): Promise<Refused> {
  const response = await world.chat(key);
  const { error } = (await response.json()) as { error: Omit<Refused, 'status'> };
  return { status: response.status, ...error };
}

const limit = (period: WireLimit['period'], credits: number): WireLimit => ({ period, credits });

t.test('a key has no limits unless they are given, and PATCH replaces and removes them', async (t) => {
  const { api, keyId } = await ownerWith([]);
  const { id } = await handedOut(api);
  const read = async () => (await api.get<{ keys: KeyView[] }>('/api/keys/')).body.keys.at(-1);
  t.match(await read(), { spending_limits: [], limits: [] });
  const limits = [limit('5h', 2), limit('monthly', 100.000001)];
  const { body } = await api.patch<KeyView>(`/api/keys/${id}/`, { spending_limits: limits });
  t.same(body.spending_limits, limits);
  t.same((await read())?.spending_limits, limits, 'in the order in which they were sent');
  await api.patch(`/api/keys/${id}/`, { description: 'x' });
  t.same((await read())?.spending_limits, limits, 'another change leaves them');
  await api.patch(`/api/keys/${id}/`, { spending_limits: [limit('total', 0)] });
  t.same((await read())?.spending_limits, [limit('total', 0)]);
  await api.patch(`/api/keys/${id}/`, { spending_limits: [] });
  t.same((await read())?.spending_limits, []);
  const made = await api.post<CreatedKeyView>('/api/keys/', { name: 'limited', spending_limits: limits });
  const all = (await api.get<{ keys: KeyView[] }>('/api/keys/')).body.keys;
  t.match(
    all.find((key) => key.id === made.body.id),
    { spending_limits: limits, can_manage: false },
    'limits are a restriction',
  );
  t.match(all.find((key) => key.id === keyId)?.can_manage, true);
});

t.test('a faulty list is refused by the name of its field, everywhere', async (t) => {
  const { api, keyId, accountId } = await ownerWith([]);
  const faults = [null, 'daily=1', [limit('daily', -1)], [{ period: 'hourly', credits: 1 }]];
  const twice = [limit('daily', 1), limit('daily', 2)];
  for (const spending_limits of [...faults, [{ period: 'daily', credits: null }], twice]) {
    for (const answer of [
      api.post('/api/keys/', { name: 'x', spending_limits }),
      api.patch(`/api/keys/${keyId}/`, { spending_limits }),
      operator.post(`/api/admin/accounts/${accountId}/keys/`, { name: 'x', spending_limits }),
      operator.patch(`/api/admin/accounts/${accountId}/keys/${keyId}/`, { spending_limits }),
      operator.patch(`/api/admin/accounts/${accountId}/`, { spending_limits }),
      operator.post('/api/admin/accounts/', { email: 'faulty@example.com', spending_limits }),
    ]) {
      t.same(
        refusalOf(await answer),
        [400, 'invalid_field', 'spending_limits'],
        JSON.stringify(spending_limits),
      );
    }
  }
  const own = await api.patch('/api/account/', { spending_limits: [] });
  t.same(refusalOf(own), [400, 'invalid_field', 'spending_limits'], "the operator sets an account's");
});

t.test('the operator sets the limits of an account, and the owner sees them', async (t) => {
  const spending_limits = [limit('5h', 2), limit('weekly', 7)];
  const { body: created } = await operator.post<{ account: OperatorAccountView; key: CreatedKeyView }>(
    '/api/admin/accounts/',
    { email: 'limited@example.com', spending_limits },
  );
  t.match(created.account, {
    spending_limits,
    limits: [{ of: 'account', period: '5h' }, { period: 'weekly' }],
  });
  const own = await apiOf(world, created.key.key).get<AccountView>('/api/account/');
  t.same(own.body.spending_limits, spending_limits);
  const path = `/api/admin/accounts/${created.account.id}/`;
  const { body } = await operator.patch<OperatorAccountView>(path, { spending_limits: [] });
  t.match(body, { spending_limits: [], limits: [] });
});

t.test('all limits hold together, also the pair and the list of one period', async (t) => {
  const { api, key, keyId } = await ownerWith([limit('daily', 2), limit('total', 3)]);
  await api.patch(`/api/keys/${keyId}/`, { spending_limit: 1, spending_period: 'daily', can_manage: true });
  await spend(key);
  const first = await refused(key);
  t.match(first, { status: 402, metadata: { limit: { period: 'daily', credits: 1, spent: '1.000000' } } });
  await api.patch(`/api/keys/${keyId}/`, { spending_limit: 9, can_manage: true });
  await spend(key);
  t.match((await refused(key)).metadata.limit, { period: 'daily', credits: 2, spent: '2.000000' });
  await api.patch(`/api/keys/${keyId}/`, { spending_limits: [limit('total', 3)], can_manage: true });
  await spend(key);
  t.match((await refused(key)).metadata.limit, { period: 'total', credits: 3, spent: '3.000000' });
});

t.test("an account's limit binds its keys together", async (t) => {
  const { api, key } = await ownerWith([], [limit('total', 2)]);
  const app = await handedOut(api);
  await spend(key);
  await spend(app.key);
  for (const value of [key, app.key]) {
    t.match(await refused(value), { status: 402, code: 'spending_limit_exceeded' });
  }
});

t.test('the refusal says whose limit it is, how much is spent, and when its period ends', async (t) => {
  const { api, key } = await ownerWith([limit('daily', 1)]);
  await spend(key);
  const { status, code, message, metadata } = await refused(key);
  const resets_at = periodEndsAt(Date.now(), 'daily');
  t.same([status, code], [402, 'spending_limit_exceeded']);
  t.match(message, /daily spending limit of this key is 1 credit; 1 (credits )?are spent/);
  t.match(message, resets_at);
  t.same(metadata.limit, {
    of: 'key',
    period: 'daily',
    credits: 1,
    spent: '1.000000',
    held: '0.000000',
    resets_at,
  });
  const call = await recorded(api);
  t.same(call.detail?.limit, metadata.limit, 'the record of the call has the same');
});

t.test('a refusal for want of credits names no limit', async (t) => {
  await dayThatLasts();
  const { key } = await world.account({ credits: 0.5 });
  const { code, metadata } = await refused(key);
  t.equal(code, 'insufficient_credits');
  t.notOk('limit' in metadata);
});

/** The newest refusal, once there are so many. */
function recorded(api: Api, refusals = 1): Promise<CallView> {
  return until('the refused calls to be recorded', async () => {
    const { body } = await api.get<CallPageView>('/api/account/calls/?code=spending_limit_exceeded');
    return body.calls[refusals - 1] && body.calls[0];
  });
}

t.test('five hours begin with the first call, and a refusal tells their end', async (t) => {
  const { api, key } = await ownerWith([limit('5h', 0)]);
  const unbegun = await refused(key);
  t.match(unbegun.metadata.limit, { period: '5h', spent: '0.000000', resets_at: null });
  t.notMatch(unbegun.message, /ends at/);
  t.match((await ownKey(api)).limits, [{ period: '5h', remaining: '0.000000', resets_at: null }]);

  const began = await ownerWith([limit('5h', 1)]);
  const before = Date.now();
  await spend(began.key);
  const after = Date.now();
  const { metadata, message } = await refused(began.key);
  const end = Date.parse(metadata.limit?.resets_at ?? '');
  t.ok(end >= before + FIVE_HOURS_MS && end <= after + FIVE_HOURS_MS, metadata.limit?.resets_at ?? '');
  t.match(message, /five-hour spending limit of this key/);
  t.match(message, metadata.limit?.resets_at);
  t.match((await ownKey(began.api)).limits, [{ period: '5h', resets_at: metadata.limit?.resets_at }]);
});

async function ownKey(api: Api): Promise<OwnKeyView> {
  return (await api.get<OwnKeyView>('/api/key/')).body;
}

t.test('of several limits the one that ends last is told', async (t) => {
  const total = await ownerWith([limit('total', 1), limit('monthly', 1), limit('5h', 1)]);
  await spend(total.key);
  t.match((await refused(total.key)).metadata.limit, { of: 'key', period: 'total', resets_at: null });
  t.notMatch((await refused(total.key)).message, /ends at/);

  const unbegun = await ownerWith([limit('daily', 0), limit('5h', 0)]);
  t.match(
    (await refused(unbegun.key)).metadata.limit,
    { period: 'daily' },
    'five hours that do not run are first',
  );

  const equal = await ownerWith([limit('monthly', 1)], [limit('monthly', 1)]);
  await spend(equal.key);
  t.match((await refused(equal.key)).metadata.limit, { of: 'account' }, "of equal ends, the account's");
  const never = await ownerWith([limit('total', 1)], [limit('total', 1)]);
  await spend(never.key);
  t.match((await refused(never.key)).metadata.limit, { of: 'account' });

  const month = await ownerWith([limit('monthly', 1)], [limit('daily', 1)]);
  await spend(month.key);
  const isLastDay = periodEndsAt(Date.now(), 'daily') === periodEndsAt(Date.now(), 'monthly');
  t.match(
    (await refused(month.key)).metadata.limit,
    isLastDay ? { of: 'account', period: 'daily' } : { of: 'key', period: 'monthly' },
  );
  await limitAccount(month.accountId, [limit('daily', 5)]);
  t.match((await refused(month.key)).metadata.limit, { of: 'key' }, 'a limit with room does not count');
});

t.test("a key that cannot manage sees neither spend nor holds of the account's limit", async (t) => {
  const { api, key } = await ownerWith([], [limit('total', 1)]);
  const app = await handedOut(api, { spending_limits: [limit('daily', 5)] });
  await spend(key);
  const { message, metadata } = await refused(app.key);
  const hidden = { of: 'account', period: 'total', credits: 1, spent: null, held: null, resets_at: null };
  t.same(metadata.limit, hidden);
  t.match(message, /total spending limit of the account is 1 credit/);
  t.notMatch(message, /spent|held/);
  t.same((await recorded(app.api)).detail?.limit, hidden);
  t.match(
    (await recorded(api)).detail?.limit,
    { spent: '1.000000', held: '0.000000' },
    'its owner sees them',
  );
  t.same(
    (await ownKey(app.api)).limits.map(({ of, credits, spent, remaining }) => [
      of,
      credits,
      spent,
      remaining,
    ]),
    [
      ['key', 5, '0.000000', '5.000000'],
      ['account', 1, null, null],
    ],
  );
  await limitAccount((await api.get<AccountView>('/api/account/')).body.id, []);
  await api.patch(`/api/keys/${app.id}/`, { spending_limits: [limit('daily', 0)] });
  t.match(
    (await refused(app.key)).metadata.limit,
    { of: 'key', spent: '0.000000', held: '0.000000' },
    'its own',
  );
});

t.test('what is left is shown to the key, its owner and the operator', async (t) => {
  const { api, key, keyId, accountId } = await ownerWith([limit('total', 5)], [limit('monthly', 10)]);
  const app = await handedOut(api);
  await api.patch(`/api/keys/${keyId}/`, { spending_limit: 3, spending_period: 'daily', can_manage: true });
  await spend(key, 2);
  await spend(app.key);
  const now = Date.now();
  const pair = {
    ...{ of: 'key', period: 'daily', credits: 3, spent: '2.000000', remaining: '1.000000' },
    resets_at: periodEndsAt(now, 'daily'),
  };
  const total = { ...pair, period: 'total', credits: 5, remaining: '3.000000', resets_at: null };
  const account = {
    ...{ of: 'account', period: 'monthly', credits: 10, spent: '3.000000', remaining: '7.000000' },
    resets_at: periodEndsAt(now, 'monthly'),
  };
  const { keys } = (await api.get<{ keys: KeyView[] }>('/api/keys/')).body;
  t.same(keys.find(({ id }) => id === keyId)?.limits, [pair, total]);
  t.same((await api.get<AccountView>('/api/account/')).body.limits, [account]);
  t.same((await operator.get<OperatorAccountView>(`/api/admin/accounts/${accountId}/`)).body.limits, [
    account,
  ]);
  t.match(await ownKey(api), { limits: [pair, total, account], limit_remaining: '1.000000' });
  t.same((await ownKey(app.api)).limits, [{ ...account, spent: null, remaining: null }]);
  await limitAccount(accountId, [limit('total', 1)]);
  const [below] = (await api.get<AccountView>('/api/account/')).body.limits;
  t.match(below, { credits: 1, spent: '3.000000', remaining: '0.000000' }, 'never below 0');
});

t.test('a new limit counts what its window has spent already', async (t) => {
  const { api, key, keyId, accountId } = await ownerWith([]);
  await spend(key, 2);
  for (const period of ['5h', 'daily', 'weekly', 'monthly', 'total'] as const) {
    await api.patch(`/api/keys/${keyId}/`, { spending_limits: [limit(period, 2)], can_manage: true });
    t.match((await refused(key)).metadata.limit, { of: 'key', period, spent: '2.000000' });
    await api.patch(`/api/keys/${keyId}/`, { spending_limits: [] });
    await limitAccount(accountId, [limit(period, 2)]);
    t.match((await refused(key)).metadata.limit, { of: 'account', period, spent: '2.000000' });
    await limitAccount(accountId, []);
  }
});

t.test('holds count against a limit, and do not against what is left', async (t) => {
  const { api, key } = await ownerWith([limit('total', 1)]);
  const open = world.chat(key, { messages: [{ role: 'user', content: 'wait' }] });
  await until('the call to be open', async () => {
    const { body } = await api.get<AccountView>('/api/account/');
    return body.credits_held === 1;
  });
  t.match((await refused(key)).metadata.limit, { spent: '0.000000', held: '1.000000' });
  t.match((await ownKey(api)).limits, [{ spent: '0.000000', remaining: '1.000000' }]);
  letGo();
  t.equal((await open).status, 200);
});

t.test('explain has a check for each owner with limits', async (t) => {
  const { api, key, keyId, accountId } = await ownerWith([limit('5h', 9), limit('total', 1)]);
  const explain = async () =>
    (await api.post<ExplanationView>(`/api/keys/${keyId}/explain/`, { model: 'flat' })).body;
  const checks = async () =>
    (await explain()).checks.flatMap(({ check, state }) =>
      check.includes('spending') ? [[check, state]] : [],
    );
  t.same(await checks(), [['spending_limit', 'passed']]);
  await limitAccount(accountId, [limit('daily', 1)]);
  const both = (ofKey: string, ofAccount: string) => [
    ['spending_limit', ofKey],
    ['account_spending_limits', ofAccount],
  ];
  t.same(await checks(), both('passed', 'passed'));
  await spend(key);
  t.same(await checks(), both('failed', 'failed'));
  t.equal((await explain()).code, 'spending_limit_exceeded');
  await api.patch(`/api/keys/${keyId}/`, { spending_limits: [] });
  t.same(await checks(), both('passed', 'failed'), 'a key without limits passes');
  const account = (await explain()).checks.find(({ check }) => check === 'account_spending_limits');
  t.match(account?.detail, /daily limit is 1\.00 credits, of which 1\.00 are spent/);
});

/** A key of a member with these spending limits, in an account that has others; and another of its keys. */
async function memberWith(ofMember: readonly SpendingLimit[], ofAccount: readonly WireLimit[] = []) {
  const owner = await ownerWith([], ofAccount);
  const keyOf = async () => {
    const { value, ...made } = newKeyValue('sk-tg-');
    const person = { personId: 7, memberSpendingLimits: ofMember, canManage: false };
    const { book } = world;
    const { ledger } = world.ledger;
    const key = await book.createKey(owner.accountId, newKey({ ...made, ...person }), Date.now());
    await ledger.publishKey(key, key.hash);
    return { key: value, keyId: key.id, api: apiOf(world, value) };
  };
  return { ...(await keyOf()), owner, other: await keyOf() };
}

t.test(
  "a member's limit binds and shows on all its keys, and is named in a refusal and by explain",
  async (t) => {
    const daily = { period: 'daily', credits: micro(2_000_000) } as const;
    const { api, key, keyId, owner, other } = await memberWith([daily], [limit('daily', 2)]);
    await spend(key);
    await spend(other.key);
    const resets_at = periodEndsAt(Date.now(), 'daily');
    t.same((await ownKey(api)).limits, [
      { of: 'member', ...limit('daily', 2), spent: '2.000000', remaining: '0.000000', resets_at },
      { of: 'account', ...limit('daily', 2), spent: null, remaining: null, resets_at },
    ]);
    t.match((await refused(key)).metadata.limit, { of: 'account' }, "of equal ends, the account's");
    await limitAccount(owner.accountId, [limit('daily', 9)]);
    const { message, metadata } = await refused(key);
    t.match(message, /^Your daily spending limit is 2 credits; 2 are spent, 0 are held/);
    const full = { of: 'member', ...limit('daily', 2), spent: '2.000000', held: '0.000000', resets_at };
    t.same(metadata.limit, full);
    t.same((await recorded(api, 2)).detail?.limit, full);
    const explained = await owner.api.post<ExplanationView>(`/api/keys/${keyId}/explain/`, { model: 'flat' });
    t.match(
      explained.body.checks.filter(({ check }) => check.includes('spending')),
      [
        { check: 'spending_limit', state: 'passed', detail: 'No limit.' },
        { check: 'member_spending_limits', state: 'failed' },
        { check: 'account_spending_limits', state: 'passed' },
      ],
    );
    await spend(owner.key);
    const parts = { book: world.book, ledger: world.ledger.ledger };
    const members = [
      { personId: 8, spendingLimits: [daily] },
      { personId: 7, spendingLimits: [daily] },
    ];
    t.match(await memberLimits(parts, owner.accountId, members), [
      [{ of: 'member', spent: '0.000000' }],
      [{ of: 'member', spent: '2.000000', remaining: '0.000000', resets_at }],
    ]);
  },
);

t.test('Codex gets the end of the limit that is told, if it is spent', async (t) => {
  const ask = async (key: string) => {
    const body = { model: 'flat', input: 'Hello' };
    const response = await world.api('POST', '/v1/responses', key, body, { originator: 'codex_exec' });
    const { error } = (await response.json()) as { error: { resets_at?: number } };
    return { status: response.status, ...error };
  };
  const { api, key, keyId } = await ownerWith([limit('5h', 1), limit('weekly', 9)], [limit('daily', 9)]);
  await spend(key);
  const spent = await ask(key);
  const [five] = (await ownKey(api)).limits;
  t.match(spent, { status: 429, code: 'usage_limit_reached', metadata: { limit: { period: '5h' } } });
  t.equal(spent.resets_at, Date.parse(five?.resets_at ?? '') / 1_000);
  await api.patch(`/api/keys/${keyId}/`, { spending_limits: [limit('total', 1)], can_manage: true });
  const never = await ask(key);
  t.match(never, { status: 429, metadata: { limit: { period: 'total' } } });
  t.notOk('resets_at' in never, 'a total never returns');
  await api.patch(`/api/keys/${keyId}/`, { spending_limits: [limit('daily', 1.5)], can_manage: true });
  const room = await ask(key);
  t.match(room, { status: 429, metadata: { limit: { period: 'daily' } } });
  t.notOk('resets_at' in room, 'half a credit is left');
});
