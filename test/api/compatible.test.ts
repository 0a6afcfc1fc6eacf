import t from 'tap';
import type { NewKeyBody } from '../../src/api/keys/key-view.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

const KEY = '/api/v1/key';
const CREDITS = '/api/v1/credits';
const SUBSCRIPTION = '/v1/dashboard/billing/subscription';
const USAGE = '/v1/dashboard/billing/usage?start_date=2026-11-01&end_date=2026-11-30';

type Answers = Readonly<Record<string, unknown>>;

async function read(path: string, token: string): Promise<Answers> {
  const answer = await world.api('GET', path, token);
  t.equal(answer.status, 200, path);
  return (await answer.json()) as Answers;
}

/** An account, and a key made by its first one. */
async function keyWith(settings: Partial<NewKeyBody>) {
  const owner = await world.account();
  const made = await world.api('POST', '/api/keys/', owner.key, {
    name: 'tool',
    can_manage: false,
    ...settings,
  });
  const { key } = (await made.json()) as { key: string };
  return { owner: owner.key, key };
}

t.test('a key with limits has the one with the least left', async (t) => {
  const { key } = await keyWith({
    spending_limit: 50,
    spending_period: 'monthly',
    spending_limits: [
      { period: 'daily', credits: 4.5 },
      { period: 'total', credits: 10 },
    ],
    expires_at: '2100-01-01T00:00:00.900Z',
    rpm_limit: 60,
  });
  for (const _ of [1, 2]) await (await world.chat(key)).text();
  const data = {
    limit: 4.5,
    limit_remaining: 2.5,
    limit_reset: 'daily',
    usage: 2,
    usage_daily: 2,
    usage_weekly: 2,
    usage_monthly: 2,
    is_free_tier: false,
    is_management_key: false,
    expires_at: '2100-01-01T00:00:00.900Z',
    rate_limit: { requests: 60 },
  };
  t.match(await read(KEY, key), { data });
  t.match(await read('/api/v1/auth/key/', key), { data });
  t.match(await read(SUBSCRIPTION, key), {
    object: 'billing_subscription',
    has_payment_method: true,
    soft_limit_usd: 4.5,
    hard_limit_usd: 4.5,
    system_hard_limit_usd: 4.5,
    access_until: 4_102_444_800,
  });
  t.same(await read(USAGE, key), { object: 'list', total_usage: 200 });
});

t.test('a limit of five hours, or of all time, has no reset in that form', async (t) => {
  for (const period of ['5h', 'total'] as const) {
    const { key } = await keyWith({ spending_limits: [{ period, credits: 1 }] });
    t.match(await read(KEY, key), { data: { limit: 1, limit_remaining: 1, limit_reset: null } }, period);
    t.equal((await world.chat(key)).status, 200);
    t.match(await read(KEY, key), { data: { limit: 1, limit_remaining: 0 } }, 'and a spent key can read it');
    t.match(await read(USAGE, key), { total_usage: 100 });
  }
});

t.test('a key without a limit', async (t) => {
  const { key } = await keyWith({});
  await (await world.chat(key)).text();
  t.match(await read(KEY, key), {
    data: { limit: null, limit_remaining: null, limit_reset: null, usage: 1 },
  });
  t.match(await read(SUBSCRIPTION, key), { hard_limit_usd: 100_000_000, access_until: 0 });
  t.match(await read(USAGE, key), { total_usage: 100 });
});

t.test('a key that manages has the balance of its account', async (t) => {
  const { owner, key } = await keyWith({});
  for (const token of [owner, key]) await (await world.chat(token)).text();
  t.same(await read(CREDITS, owner), { data: { total_credits: 1_000, total_usage: 2 } });
  t.match(await read(SUBSCRIPTION, owner), { hard_limit_usd: 998 });
  t.match(await read(KEY, owner), { data: { limit: null, usage: 1, is_management_key: true } });
  const refused = await world.api('GET', CREDITS, key);
  t.equal(refused.status, 403);
  t.match(await refused.json(), { error: { code: 'management_not_allowed' } });
});

t.test('they take any usable key, by its restrictions, and count in no limit', async (t) => {
  const { key } = await keyWith({ rpm_limit: 1 });
  for (const path of [KEY, SUBSCRIPTION, USAGE]) for (const _ of [1, 2]) await read(path, key);
  t.equal((await world.chat(key)).status, 200, 'the request of the minute is left');
  const elsewhere = await keyWith({ allowed_ips: ['203.0.113.7'] });
  for (const path of [KEY, CREDITS, SUBSCRIPTION, USAGE]) {
    for (const [token, status, code] of [
      ['sk-tg-nobody', 401, 'invalid_api_key'],
      [elsewhere.key, 403, 'ip_not_allowed'],
    ] as const) {
      const answer = await world.api('GET', path, token);
      t.equal(answer.status, status, path);
      t.equal(answer.headers.get('cache-control'), 'no-store');
      t.match(await answer.json(), { error: { code } });
    }
  }
});
