import t from 'tap';
import type { ExplanationView as Explanation } from '../../src/api/explain/explanation-view.ts';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import { micro } from '../../src/domain/credits.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import { memberOf } from '../helper/clients/people.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t, { behave: () => undefined });
const owner = await world.account({ credits: 10 });
const api = apiOf(world, owner.key);

/** Checks that need the model, in their order. */
const OF_THE_MODEL = [
  'request',
  'allowed_categories',
  'allowed_models',
  'max_parallel_requests',
  'rpm_limit',
  'tpm_limit',
  'spending_limit',
  'credits',
];

/** A key with these settings, and its explanation. */
async function explained(settings: object, asked: object): Promise<Explanation> {
  const { body: key } = await api.post<CreatedKeyView>('/api/keys/', { name: 'x', ...settings });
  const { status, body } = await api.post<Explanation>(`/api/keys/${key.id}/explain/`, asked);
  if (status !== 200) throw new Error(`explain answered ${status}`);
  return body;
}

const failing = ({ checks }: Explanation) => checks.filter(({ passed }) => !passed).map(({ check }) => check);

t.test('a call that would be let through', async (t) => {
  const { allowed, code, checks } = await explained({}, { model: 'flat' });
  t.same([allowed, code], [true, null]);
  t.ok(checks.every(({ passed, detail }) => passed && detail.length > 0));
});

t.test('every check of section 3 is listed, in its order', async (t) => {
  const { checks } = await explained({}, { model: 'flat' });
  t.same(
    checks.map(({ check }) => check),
    [
      'authorization',
      'known_key',
      'is_active',
      'account_active',
      'expires_at',
      'active_hours',
      'allowed_ips',
      'blocked_countries',
      'allowed_origins',
      ...OF_THE_MODEL,
    ],
  );
});

const CASES: readonly (readonly [settings: object, asked: object, code: string | null, failing: string[]])[] =
  [
    [{ is_active: false }, {}, 'inactive_api_key', ['is_active']],
    [{ expires_at: '2030-01-01T00:00:00Z' }, { at: '2029-12-31T23:59:59.999Z' }, null, []],
    [
      { expires_at: '2030-01-01T00:00:00Z' },
      { at: '2030-01-01T00:00:00Z' },
      'expired_api_key',
      ['expires_at'],
    ],
    [{ active_hours: '22:00-02:00' }, { at: '2026-01-01T23:00:00+00:00' }, null, []],
    [
      { active_hours: '22:00-02:00' },
      { at: '2026-01-01T23:00:00-05:00' },
      'outside_active_hours',
      ['active_hours'],
    ],
    [{ allowed_ips: ['203.0.113.0/24'] }, { ip: '203.0.113.9' }, null, []],
    [{ allowed_ips: ['203.0.113.0/24'] }, { ip: '::ffff:203.0.113.9' }, null, []],
    [{ allowed_ips: ['203.0.113.0/24'] }, { ip: '198.51.100.1' }, 'ip_not_allowed', ['allowed_ips']],
    [{ allowed_ips: ['203.0.113.0/24'] }, {}, 'ip_not_allowed', ['allowed_ips']],
    [{ allowed_ips: ['127.0.0.1'] }, {}, null, []],
    [{ blocked_countries: ['DE'] }, { country: 'de' }, 'country_blocked', ['blocked_countries']],
    [{ blocked_countries: ['DE'] }, { country: 'FR', ip: '8.8.8.8' }, null, []],
    [{ blocked_countries: ['US'] }, { ip: '8.8.8.8' }, 'country_blocked', ['blocked_countries']],
    [{ blocked_countries: ['US'] }, {}, null, []],
    [{ allowed_origins: ['https://*.example.com'] }, { origin: 'https://a.example.com' }, null, []],
    [
      { allowed_origins: ['https://*.example.com'] },
      { origin: 'https://example.com' },
      'origin_not_allowed',
      ['allowed_origins'],
    ],
    [{ allowed_origins: ['example.com'] }, {}, 'origin_not_allowed', ['allowed_origins']],
    [{ allowed_categories: ['image'] }, {}, 'category_not_allowed', ['allowed_categories']],
    [{ allowed_models: ['tokens'] }, {}, 'model_not_allowed', ['allowed_models']],
    [{ spending_limit: 0.5 }, {}, 'spending_limit_exceeded', ['spending_limit']],
    [{ spending_limit: 1 }, {}, null, []],
    [
      { spending_limit: 0, allowed_ips: ['192.0.2.1'], is_active: false },
      {},
      'inactive_api_key',
      ['is_active', 'allowed_ips', 'spending_limit'],
    ],
    [{}, { endpoint: '/v1/chat/completions' }, null, []],
    [{}, { model: '' }, 'model_required', ['request']],
  ];
for (const [settings, asked, code, names] of CASES) {
  t.test(`${JSON.stringify(settings)} asked ${JSON.stringify(asked)}: ${code}`, async (t) => {
    const explanation = await explained(settings, { model: 'flat', ...asked });
    t.equal(explanation.code, code);
    t.equal(explanation.allowed, code === null);
    t.same(failing(explanation), names);
  });
}

t.test('a model that is not in the catalog', async (t) => {
  const explanation = await explained({}, { model: 'gpt-99' });
  t.equal(explanation.code, 'model_not_found');
  t.equal(explanation.allowed, false);
  t.same(failing(explanation), ['request']);
  const open = explanation.checks.filter(({ state }) => state === 'not_checked');
  t.same(
    open.map(({ check }) => check),
    OF_THE_MODEL.slice(1),
    'all that depends on the model',
  );
  t.ok(open.every(({ passed }) => passed));
});

t.test('each check has its state', async (t) => {
  const { checks } = await explained({ allowed_ips: ['192.0.2.1'] }, { model: 'flat' });
  for (const { check, state } of checks) t.equal(state, check === 'allowed_ips' ? 'failed' : 'passed', check);
});

t.test('the caller is shown as it is checked', async (t) => {
  const { caller: own } = await explained({}, { model: 'flat' });
  t.same(own, { ip: '127.0.0.1', country: null, origin: null });
  const { caller } = await explained(
    {},
    { model: 'flat', ip: '::ffff:8.8.8.8', origin: 'https://a.example.com' },
  );
  t.same(caller, { ip: '8.8.8.8', country: 'US', origin: 'https://a.example.com' });
  t.match(await explained({}, { model: 'flat', ip: '8.8.8.8', country: 'de' }), {
    caller: { country: 'DE' },
  });
});

t.test('a model of another category than the endpoint', async (t) => {
  const explanation = await explained({}, { model: 'picture', endpoint: '/v1/chat/completions' });
  t.equal(explanation.code, 'endpoint_mismatch');
});

t.test('limits of calls: the owner and the rest of each', async (t) => {
  const { accountId, keyId, key } = await world.account({ key: { rpmLimit: 2, tpmLimit: 90_000 } });
  await world.limitAccount(accountId, { rpmLimit: 50, maxParallelRequests: 9 });
  const explain = async () =>
    (await apiOf(world, key).post<Explanation>(`/api/keys/${keyId}/explain/`, { model: 'flat' })).body;
  const detail = ({ checks }: Explanation, name: string) =>
    checks.find(({ check }) => check === name)?.detail;
  const before = await explain();
  t.equal(before.code, null);
  t.equal(
    detail(before, 'max_parallel_requests'),
    "The account's limit is 9 calls in flight, of which 9 are left.",
  );
  t.equal(
    detail(before, 'rpm_limit'),
    "The key's limit is 2 requests a minute, of which 2 are left. The account's limit is 50 requests a minute, of which 50 are left.",
  );
  t.equal(
    detail(before, 'tpm_limit'),
    "The key's limit is 90,000 tokens a minute, of which 90,000 are left.",
  );
  for (let i = 0; i < 2; i++) t.equal((await world.chat(key)).status, 200);
  const after = await explain();
  t.equal(after.code, 'rate_limit_exceeded');
  t.same(failing(after), ['rpm_limit']);
  t.match(
    detail(after, 'rpm_limit'),
    /^This key's rpm_limit of 2 requests a minute has been reached\. The key's limit is 2 requests a minute, of which 0 are left\. The account's/,
  );
});

t.test('too few credits', async (t) => {
  const poor = await world.account({ credits: 0.5 });
  const { body } = await apiOf(world, poor.key).post<Explanation>(`/api/keys/${poor.keyId}/explain/`, {
    model: 'flat',
  });
  t.equal(body.code, 'insufficient_credits');
  t.match(body.checks.at(-1)?.detail, /^The account has 0\.50 credits\..* at least 1\.00\.$/);
});

t.test("a member learns the verdicts, but neither the account's balance nor its spend", async (t) => {
  const { key, accountId } = await world.account({
    credits: 37.25,
    spendingLimits: [{ period: 'total', credits: micro(23_500_000) }],
  });
  await world.chat(key);
  await world.settled();
  const member = await memberOf(world, accountId, 'member');
  const { body: own } = await member.post<CreatedKeyView>('/api/keys/', { name: 'own' });
  const told = async (reader: Api) =>
    (await reader.post<Explanation>(`/api/keys/${own.id}/explain/`, { model: 'flat' })).body;
  const [ofOwner, ofMember] = [await told(apiOf(world, key)), await told(member)];
  t.match(JSON.stringify(ofOwner), /36\.25 credits.*/);
  t.match(JSON.stringify(ofOwner), /of which 1\.00 are spent/);
  t.notMatch(JSON.stringify(ofMember), /36\.25|are spent|in flight hold/);
  t.same(
    ofMember.checks.map(({ check, passed }) => [check, passed]),
    ofOwner.checks.map(({ check, passed }) => [check, passed]),
  );
  const dry = await world.account({ credits: 0.5 });
  const poor = await memberOf(world, dry.accountId, 'member');
  const { body: theirs } = await poor.post<CreatedKeyView>('/api/keys/', { name: 'theirs' });
  const { body } = await poor.post<Explanation>(`/api/keys/${theirs.id}/explain/`, { model: 'flat' });
  t.equal(body.code, 'insufficient_credits');
  t.match(body.checks.at(-1), { passed: false, detail: /too few credits/ });
  t.notMatch(JSON.stringify(body), /0\.50/);
});

t.test('earlier spend counts against the limit', async (t) => {
  const { body: key } = await api.post<CreatedKeyView>('/api/keys/', { name: 'x', spending_limit: 1.5 });
  await (await world.chat(key.key)).text();
  await world.settled();
  const { body } = await api.post<Explanation>(`/api/keys/${key.id}/explain/`, { model: 'flat' });
  t.equal(body.code, 'spending_limit_exceeded');
});

t.test('explaining sends nothing and spends nothing', async (t) => {
  const sent = world.provider.requests.length;
  const before = (await api.get<{ credits_balance: number; credits_held: number }>('/api/account/')).body;
  await explained({}, { model: 'flat' });
  const after = (await api.get<{ credits_balance: number; credits_held: number }>('/api/account/')).body;
  t.same([after.credits_balance, after.credits_held], [before.credits_balance, 0]);
  t.equal(world.provider.requests.length, sent);
});

t.test('an invalid query is refused by the name of the parameter', async (t) => {
  const path = `/api/keys/${owner.keyId}/explain/`;
  const bad = {
    model: 5,
    endpoint: '/v1/nothing',
    ip: '10.0.0',
    origin: 3,
    country: 'ZZ',
    at: '2026-01-01',
    extra: 1,
  };
  for (const [field, value] of Object.entries(bad)) {
    const answer = await api.post(path, { model: 'flat', [field]: value });
    t.same(refusalOf(answer), [400, 'invalid_field', field], field);
  }
  t.same(refusalOf(await api.post(path, {})), [400, 'invalid_field', 'model']);
  t.same(refusalOf(await api.post(path, [])), [400, 'invalid_json', null]);
});
