import t from 'tap';
import type { CreatedKeyView, KeyView, OwnKeyView } from '../../src/api/keys/key-view.ts';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { periodEndsAt } from '../../src/domain/period.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startGatewayInProcess,
} from '../helper/start/gateway-in-process.ts';

/**
 * Specification section 2, "What a key sees". A key that was handed out used to show its holder the owner's balance and
 * other keys.
 */
const world = await startGatewayInProcess(t);
const LEDGER = '/api/account/ledger/';
const USAGE = '/api/account/usage/';
const NOT_FOUND = [404, 'key_not_found', null];

interface Page {
  readonly entries: readonly EntryView[];
  readonly next: string | null;
}

/** An account with a unique balance, its managing key and one that was handed out. Each key has made one call. */
async function family(from: InProcessGateway = world) {
  await dayThatLasts();
  const owner = await from.account({ credits: 777 });
  const api = apiOf(from, owner.key);
  const { body } = await api.post<CreatedKeyView>('/api/keys/', {
    name: 'handed out',
    spending_limit: 5,
    spending_period: 'daily',
  });
  const handed = { key: body.key, id: body.id, api: apiOf(from, body.key) };
  const calls: string[] = [];
  for (const key of [owner.key, handed.key]) {
    const response = await from.chat(key);
    await response.text();
    calls.push(response.headers.get('x-request-id') ?? '');
  }
  await from.settled();
  return { ...owner, api, handed, calls };
}

t.test('a key that cannot manage is alone in its list', async (t) => {
  const { api, keyId, handed } = await family();
  const own = await handed.api.get<{ keys: KeyView[] }>('/api/keys/');
  t.same(
    own.body.keys.map(({ id }) => id),
    [handed.id],
  );
  const all = await api.get<{ keys: KeyView[] }>('/api/keys/');
  t.same(
    all.body.keys.map(({ id }) => id),
    [keyId, handed.id],
  );
  t.same(own.body.keys[0], all.body.keys[1]);
});

t.test('its ledger has its own calls, without a balance, in every form', async (t) => {
  const { accountId, keyId, handed, calls } = await family();
  await apiOf(world, ADMIN_TOKEN).post(`/api/admin/accounts/${accountId}/credits/`, {
    amount: 3,
    note: 'secret',
  });
  await world.settled();
  const { body } = await handed.api.get<Page>(LEDGER);
  t.same(
    body.entries.map(({ id, balance_after }) => [id, balance_after]),
    [[calls[1], null]],
  );
  t.same((await handed.api.get<Page>(`${LEDGER}?key_id=${handed.id}`)).body, body);
  t.same((await handed.api.get<Page>(`${LEDGER}?type=top_up`)).body.entries, []);
  t.same(refusalOf(await handed.api.get(`${LEDGER}?key_id=${keyId}`)), NOT_FOUND, "another's");
  t.same(refusalOf(await handed.api.get(`${LEDGER}?key_id=987654321`)), NOT_FOUND, "nobody's");
  const text = async (query: string) =>
    await (await world.api('GET', `${LEDGER}?${query}`, handed.key)).text();
  const csv = (await text('format=csv')).trimEnd().split('\r\n');
  t.equal(csv.length, 2);
  t.match(csv[1], /,-1\.000000,,/, 'an empty cell');
  t.same(JSON.parse(await text('format=jsonl')), body.entries[0]);
  t.notMatch(csv.join(), /secret|,77\d\.\d{6}/, 'neither the note nor a balance');
});

t.test('a single entry of another key, and a top-up, are not there for it', async (t) => {
  const { api, handed, calls } = await family();
  const own = await handed.api.get<EntryView>(`${LEDGER}${calls[1]}/`);
  t.match(own.body, { id: calls[1], key_id: handed.id, balance_after: null });
  const missing = [404, 'entry_not_found', null];
  t.same(refusalOf(await handed.api.get(`${LEDGER}${calls[0]}/`)), missing);
  const { body } = await api.get<Page>(`${LEDGER}?type=top_up`);
  t.same(refusalOf(await handed.api.get(`${LEDGER}${body.entries[0]?.id}/`)), missing);
});

t.test('its usage is its own, however it is grouped', async (t) => {
  const { api, keyId, handed } = await family();
  for (const group of ['day', 'key', 'model']) {
    const { body } = await handed.api.get(`${USAGE}?group_by=${group}`);
    t.match(body, { total: { calls: 1, credits: '1.000000' } }, group);
    const asked = await handed.api.get(`${USAGE}?group_by=${group}&key_id=${handed.id}`);
    t.same(asked.body, body);
    t.same(
      (await api.get(`${USAGE}?group_by=${group}&key_id=${handed.id}`)).body,
      body,
      'as its owner sees it',
    );
    t.match((await api.get(`${USAGE}?group_by=${group}`)).body, { total: { calls: 2 } });
  }
  t.match((await handed.api.get(`${USAGE}?group_by=key`)).body, { rows: [{ key_id: handed.id }] });
  t.same(refusalOf(await handed.api.get(`${USAGE}?key_id=${keyId}`)), NOT_FOUND);
  t.same(refusalOf(await api.get(`${USAGE}?key_id=0`)), [400, 'invalid_field', 'key_id']);
});

t.test('account and alerts are not for it', async (t) => {
  const { handed } = await family();
  const refused = [403, 'management_not_allowed', null];
  t.same(refusalOf(await handed.api.get('/api/account/')), refused);
  t.same(refusalOf(await handed.api.get('/api/account/alerts/')), refused);
  t.same(refusalOf(await handed.api.post('/api/account/alerts/test/')), refused);
});

t.test('a 402 shows it no balance, and shows a managing key the balance', async (t) => {
  const owner = await world.account({ credits: 0.777_777 });
  const { body } = await apiOf(world, owner.key).post<CreatedKeyView>('/api/keys/', {
    name: 'handed out',
    allowed_models: ['flat'],
  });
  const refusal = async (key: string) => {
    const response = await world.chat(key);
    t.equal(response.status, 402);
    return ((await response.json()) as { error: { message: string } }).error.message;
  };
  t.match(await refusal(owner.key), /0\.777777/);
  const told = await refusal(body.key);
  t.notMatch(told, /777|held/);
  t.match(told, /could cost 1\./, 'what its own call may cost');
});

t.test('GET /api/key/ shows a key its settings, its account and the rest of its limit', async (t) => {
  const { handed, accountId } = await family();
  for (const path of ['/api/key/', '/api/key']) {
    const { status, body } = await handed.api.get<OwnKeyView>(path);
    t.equal(status, 200);
    const [listed] = (await handed.api.get<{ keys: KeyView[] }>('/api/keys/')).body.keys;
    t.same(body, {
      ...listed,
      account_id: accountId,
      limit_remaining: '4.000000',
      period_ends_at: periodEndsAt(Date.now(), 'daily'),
    });
  }
});

t.test('the credits of the account are in it for a key that can manage, and no limit is null', async (t) => {
  const { api } = await family();
  const { body } = await api.get<OwnKeyView>('/api/key/');
  t.match(body, { credits_balance: 775, limit_remaining: null, can_manage: true });
  t.equal(body.period_ends_at, periodEndsAt(Date.now(), 'monthly'));
});

t.test('the rest of a limit below the spend is 0', async (t) => {
  const { api, handed } = await family();
  await api.patch(`/api/keys/${handed.id}/`, { spending_limit: 0.25 });
  t.match((await handed.api.get('/api/key/')).body, {
    limit_remaining: '0.000000',
    spending_current: '1.000000',
  });
});

t.test('a key that cannot be used is refused at GET /api/key/, as at any other route', async (t) => {
  const { api, handed } = await family();
  await api.patch(`/api/keys/${handed.id}/`, { allowed_ips: ['203.0.113.1'] });
  t.same(refusalOf(await handed.api.get('/api/key/')), [403, 'ip_not_allowed', null]);
  await api.delete(`/api/keys/${handed.id}/`);
  t.same(refusalOf(await handed.api.get('/api/key/')), [401, 'inactive_api_key', null]);
  t.equal((await world.api('HEAD', '/api/key/', handed.key)).status, 401);
});
