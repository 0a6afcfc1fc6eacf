import t from 'tap';
import type { CallPageView } from '../../src/api/calls/call-view.ts';
import type { CallSummaryView, OperatorCallSummaryView } from '../../src/api/calls/summary-view.ts';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import type { EntryPageView } from '../../src/api/ledger/entry-view.ts';
import { until } from '../helper/check/until.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import { memberOf } from '../helper/clients/people.ts';
import { refusedCall } from '../helper/fixtures/book-records.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startGatewayInProcess,
} from '../helper/start/gateway-in-process.ts';

const LIST = '/api/account/calls/';
const PATH = `${LIST}summary/`;

const world = await startGatewayInProcess(t, {
  behave: ({ body }) => (body.includes('"user":"broken"') ? { status: 400, body: '{}' } : undefined),
});
const operator = apiOf(world, ADMIN_TOKEN);

type Chat = Parameters<InProcessGateway['chat']>[1];

async function call(key: string, chat: Chat = {}): Promise<void> {
  await (await world.chat(key, chat)).arrayBuffer();
}

/** The summary once it has `total` calls: refused ones are recorded soon. */
async function summed<View extends CallSummaryView = CallSummaryView>(
  api: Api,
  total: number,
  path = PATH,
): Promise<View> {
  return until(`${total} calls at ${path}`, async () => {
    const { body } = await api.get<View>(path);
    return body.total === total && body;
  });
}

/** An account with a key that manages, a member with a key, and a call of each result. */
async function family() {
  const owner = await world.account({ credits: 100, key: { name: 'owner' } });
  const member = await memberOf(world, owner.accountId, 'member');
  const { body: hers } = await member.post<KeyView & { key: string }>('/api/keys/', { name: 'hers' });
  await call(owner.key);
  await call(hers.key);
  await call(hers.key, { user: 'broken' });
  await call(hers.key, { model: 'nonesuch' });
  const api = apiOf(world, owner.key);
  await summed(api, 4);
  return { ...owner, api, member, hers };
}

t.test('the owner gets sums of the whole account', async (t) => {
  const { api, keyId, member, hers } = await family();
  const { body } = await api.get<CallSummaryView>(PATH);
  t.match(body, {
    total: 4,
    results: { ok: 2, refused: 1, failed: 1 },
    models: [
      { model: 'flat', count: 3 },
      { model: 'nonesuch', count: 1 },
    ],
    keys: [
      { id: hers.id, name: 'hers', count: 3 },
      { id: keyId, name: 'owner', count: 1 },
    ],
    members: [{ id: member.id, count: 3 }],
    endpoints: [{ endpoint: '/v1/chat/completions', count: 4 }],
  });
  t.ok(body.codes.some(({ code, count }) => code === 'model_not_found' && count === 1));
  const group = body.groups.find(({ code }) => code === 'model_not_found');
  t.match(group, { endpoint: '/v1/chat/completions', model: 'nonesuch', count: 1, keys: 1 });
  t.equal(group?.first_at, group?.last_at);
  t.ok(Number.isSafeInteger(body.duration_ms.p50) && Number.isSafeInteger(body.first_byte_ms.p95));
  t.notOk('accounts' in body || 'providers' in body, 'the operator alone gets them');
});

t.test('a key that cannot manage and a member get sums of their own calls', async (t) => {
  const { api, member, hers, keyId, accountId } = await family();
  const own = { total: 3, keys: [{ id: hers.id, count: 3 }], members: [{ id: member.id, count: 3 }] };
  t.match((await apiOf(world, hers.key).get(PATH)).body, own);
  t.match((await member.get(PATH)).body, own);
  t.same(refusalOf(await member.get(`${PATH}?key_id=${keyId}`)), [404, 'key_not_found', null]);
  const other = await memberOf(world, accountId, 'member');
  t.match((await other.get(PATH)).body, { total: 0, keys: [], groups: [], duration_ms: { p50: null } });
  t.match((await other.get(`${PATH}?person_id=${member.id}`)).body, { total: 0 }, "another's");
  t.match((await other.get(`${LIST}?person_id=${member.id}`)).body, { calls: [] }, "another's, listed");
  t.match((await api.get(`${PATH}?person_id=${member.id}`)).body, own);
  const viewer = await memberOf(world, accountId, 'viewer');
  t.match((await viewer.get(PATH)).body, { total: 4 });
  t.equal((await world.api('GET', PATH, 'sk-tg-none')).status, 401);
});

t.test('a summary has the calls of the list with the same query', async (t) => {
  const { api, keyId, member } = await family();
  const first = (await api.get<CallPageView>(LIST)).body.calls.at(-1)?.created_at ?? '';
  for (const query of [
    'result=ok',
    'result=failed',
    'outcome=refused',
    'code=model_not_found',
    'model=flat',
    'endpoint=/v1/chat/completions',
    'endpoint=/v1/embeddings',
    `key_id=${keyId}`,
    `person_id=${member.id}`,
    `from=${first}&to=${first}`,
    'to=2020-01-01',
    'from=2999-01-01',
  ]) {
    const { body: list } = await api.get<CallPageView>(`${LIST}?${query}`);
    const { body } = await api.get<CallSummaryView>(`${PATH}?${query}`);
    t.equal(body.total, list.calls.length, query);
    const counted = body.buckets.reduce((sum, { ok, refused, failed }) => sum + ok + refused + failed, 0);
    t.equal(counted, body.total, `the buckets of ${query}`);
  }
  for (const name of ['limit=1', 'before=1.req_1', 'format=csv', 'upstream=test', 'account_id=1']) {
    const answer = await api.get(`${PATH}?${name}`);
    t.same(refusalOf(answer), [400, 'invalid_field', name.split('=')[0]], name);
  }
});

t.test('a range has buckets of the smallest unit of which at most 120 cover it', async (t) => {
  const { api } = await family();
  const rows = [
    ['from=2026-01-01T14:03:00Z&to=2026-01-01T14:17:59.999Z', 'minute', 60_000, 15],
    ['from=2026-01-01T14:03:20Z&to=2026-01-01T14:18:20Z', 'minute', 60_000, 16],
    ['from=2026-01-01T14:00:00Z&to=2026-01-01T15:59:59.999Z', 'minute', 60_000, 120],
    ['from=2026-01-01T14:00:00Z&to=2026-01-01T16:00:00Z', 'hour', 3_600_000, 3],
    ['from=2026-01-01&to=2026-01-05', 'hour', 3_600_000, 120],
    ['from=2026-01-01&to=2026-01-07', 'day', 86_400_000, 7],
    ['from=2026-01-01&to=2026-04-30', 'day', 86_400_000, 120],
    ['from=2026-01-01&to=2026-05-01', 'day', 2 * 86_400_000, 61],
  ] as const;
  for (const [query, bucket, bucket_ms, count] of rows) {
    const { body } = await api.get<CallSummaryView>(`${PATH}?${query}`);
    t.match(body, { bucket, bucket_ms }, query);
    const times = body.buckets.map(({ at }) => Date.parse(at));
    t.equal(times.length, count, query);
    t.ok(
      times.every((at, index) => at === (times[0] as number) + index * bucket_ms),
      `no gaps: ${query}`,
    );
  }
});

t.test('repeated refused calls all count', async (t) => {
  const { key, keyId, accountId } = await world.account({ credits: 100 });
  const made = { id: `req_repeated_${accountId}`, createdAt: Date.now() };
  const first = { ...refusedCall(accountId, keyId), ...made };
  await world.book.recordRefusals({ calls: [], repeated: [{ first, repeated: 25 }], counts: [] }, 20);
  const { body } = await apiOf(world, key).get<CallSummaryView>(PATH);
  const codes = [{ code: first.code, count: 25 }];
  t.match(body, { total: 25, results: { ok: 0, refused: 25 }, codes, groups: [{ count: 25, keys: 1 }] });
});

t.test('the operator gets sums by account and provider too', async (t) => {
  const { accountId, member } = await family();
  const email = (await world.book.emails([accountId])).get(accountId);
  const accounts = [{ id: accountId, email, count: 4 }];
  for (const path of [
    `/api/admin/accounts/${accountId}/calls/summary/`,
    `/api/admin/calls/summary/?account_id=${accountId}`,
  ]) {
    const { body } = await operator.get<OperatorCallSummaryView>(path);
    t.match(body, { total: 4, accounts, providers: [{ provider: 'test', count: 3 }] }, path);
  }
  const all = await operator.get<OperatorCallSummaryView>(`/api/admin/calls/summary/?person_id=${member.id}`);
  t.match(all.body, { total: 3, accounts: [{ id: accountId, count: 3 }] }, 'a person of any account');
  const listed = await operator.get<CallPageView>(`/api/admin/calls/?person_id=${member.id}`);
  t.equal(listed.body.calls.length, 3);
  const tested = await operator.get(`/api/admin/accounts/${accountId}/calls/summary/?upstream=test`);
  t.match(tested.body, { total: 3, results: { refused: 0 } });
  for (const [query, code] of [
    ['account_id=999999', 'account_not_found'],
    ['key_id=999999', 'key_not_found'],
  ]) {
    const answer = await operator.get(`/api/admin/calls/summary/?${query}`);
    t.same(refusalOf(answer), [404, code, null]);
  }
});

t.test('calls and entries name their key and its person', async (t) => {
  const { api, key, member, hers } = await family();
  const named = { key_id: hers.id, key_name: 'hers', member: { id: member.id } };
  const { body: calls } = await api.get<CallPageView>(`${LIST}?key_id=${hers.id}`);
  t.match(calls.calls, [named, named, named]);
  const id = calls.calls.at(-1)?.id;
  t.match((await api.get(`${LIST}${id}/`)).body, named);
  const { body: entries } = await api.get<EntryPageView>(`/api/account/ledger/?key_id=${hers.id}`);
  t.match(entries.entries, [named, named]);
  t.match((await api.get(`/api/account/ledger/${id}/`)).body, named);
  for (const path of [LIST, '/api/account/ledger/']) {
    const answer = await world.api('GET', `${path}?key_id=${hers.id}&format=csv`, key);
    const csv = (await answer.text()).split('\r\n');
    t.match(csv[0], /,key_name,member_id,member_name$/, path);
    t.match(csv[1], new RegExp(`,hers,${member.id},`), path);
  }
});
