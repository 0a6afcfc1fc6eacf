import t from 'tap';
import type { CallPageView, CallView, OperatorCallView } from '../../src/api/calls/call-view.ts';
import type { UsageReportView } from '../../src/api/usage/usage-view.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { type Api, apiOf, refusalOf } from '../helper/clients/api.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  startGatewayInProcess,
} from '../helper/start/gateway-in-process.ts';

const PATH = '/api/account/calls/';
const AGENT = { 'user-agent': 'acme-app/1.0' };

const world = await startGatewayInProcess(t, {
  behave: ({ body }) => {
    if (!body.includes('"user":"refused"')) return undefined;
    const message = 'The organization org-AbCdEf123456 may not do this in proj_9876zyx.';
    const type = 'invalid_request_error';
    const error = { message, type, param: 'messages', code: 'context_length_exceeded' };
    return {
      status: 400,
      headers: { 'content-type': 'application/json' },
      // As written by encoders that escape more than they must.
      body: JSON.stringify({ error }).replace('org-', 'org\\u002d'),
    };
  },
});

const operator = apiOf(world, ADMIN_TOKEN);

async function callsOf(api: Api, query = ''): Promise<readonly CallView[]> {
  return (await api.get<CallPageView>(`${PATH}${query}`)).body.calls;
}

/** The only call that matches a query, once it is recorded. */
function recorded(api: Api, query: string): Promise<CallView> {
  return until(`a call ${query}`, async () => (await callsOf(api, query))[0]);
}

async function ended(answer: Promise<Response>): Promise<string> {
  const response = await answer;
  await response.arrayBuffer();
  return response.headers.get('x-request-id') ?? '';
}

t.test('an answered call shows its ledger entry, request and response', async (t) => {
  const { key, keyId } = await world.account({ credits: 100, key: { name: 'application' } });
  const before = Date.now();
  const id = await ended(world.chat(key, {}, AGENT));
  const api = apiOf(world, key);
  const [call] = await callsOf(api);
  t.same(call, {
    id,
    created_at: call?.created_at,
    key_id: keyId,
    key_name: 'application',
    member: null,
    model: 'flat',
    category: 'text',
    endpoint: '/v1/chat/completions',
    streamed: false,
    status: 200,
    outcome: 'complete',
    code: null,
    message: null,
    param: null,
    charge: '1.000000',
    usage: call?.usage,
    estimated: false,
    duration_ms: call?.duration_ms,
    first_byte_ms: call?.first_byte_ms,
    upstream: 'test',
    attempts: [{ target: 'test', status: 200, ms: call?.duration_ms }],
    user_agent: 'acme-app/1.0',
    detail: null,
    repeated: 1,
  });
  t.ok(Date.parse(call?.created_at ?? '') >= before - 1);
  t.ok(Number(call?.first_byte_ms) <= Number(call?.duration_ms));
  const { body: entry } = await api.get<{ first_byte_ms: number }>(`/api/account/ledger/${id}/`);
  t.equal(entry.first_byte_ms, call?.first_byte_ms);
  t.same((await api.get(`${PATH}${id}/`)).body, call, 'the bare object');
});

t.test('refused calls are recorded with the facts that they were refused by', async (t) => {
  const allowed = { expiresAt: null };
  const refuse = async (
    name: string,
    key: Parameters<InProcessGateway['account']>[0],
    send: (value: string) => Promise<Response>,
    wanted: Partial<CallView>,
  ) => {
    const made = await world.account(key);
    const answer = await send(made.key);
    const { error } = (await answer.json()) as { error: { code: string; message: string; param: string } };
    t.equal(answer.headers.get('x-tollgate-source'), 'gateway', name);
    const reader = await world.api('GET', '/api/account/', made.key);
    await reader.arrayBuffer();
    const calls = await until(name, async () => {
      const { body } = await operator.get<CallPageView>(
        `/api/admin/accounts/${made.accountId}/calls/?result=refused`,
      );
      return body.calls.length > 0 && body.calls;
    });
    t.equal(calls.length, 1, name);
    t.match(
      calls[0],
      {
        id: answer.headers.get('x-request-id') ?? '',
        key_id: made.keyId,
        endpoint: '/v1/chat/completions',
        status: answer.status,
        outcome: 'refused',
        code: error.code,
        message: error.message.slice(0, 300),
        param: error.param,
        charge: '0.000000',
        usage: {},
        estimated: false,
        first_byte_ms: null,
        upstream: null,
        attempts: [],
        repeated: 1,
        ...wanted,
      },
      name,
    );
    return calls[0] as CallView;
  };
  const chat = (key: string) => world.chat(key, {}, { ...AGENT, 'x-forwarded-for': '203.0.113.9' });
  await refuse('address', { key: { allowedIps: ['198.51.100.0/24'] } }, chat, {
    code: 'ip_not_allowed',
    model: null,
    streamed: null,
    category: null,
    user_agent: 'acme-app/1.0',
    detail: { ip: '203.0.113.9' },
  });
  await refuse(
    'origin',
    { key: { allowedOrigins: ['https://app.example.com'] } },
    (key) => world.chat(key, {}, { origin: 'https://evil.example' }),
    { code: 'origin_not_allowed', detail: { origin: 'https://evil.example' } },
  );
  await refuse('no origin', { key: { allowedOrigins: ['https://app.example.com'] } }, chat, {
    detail: { origin: null },
  });
  await refuse(
    'country',
    { key: { blockedCountries: ['US'] } },
    (key) => world.chat(key, {}, { 'x-forwarded-for': '8.8.8.8' }),
    { code: 'country_blocked', detail: { ip: '8.8.8.8', country: 'US' } },
  );
  await refuse('inactive', { key: { isActive: false } }, chat, { code: 'inactive_api_key', detail: null });
  await refuse('expired', { key: { ...allowed, expiresAt: 1 } }, chat, { code: 'expired_api_key' });
  await refuse('model', {}, (key) => world.chat(key, { model: 'nonesuch', stream: true }), {
    code: 'model_not_found',
    model: 'nonesuch',
    category: null,
    streamed: true,
    param: 'model',
  });
  await refuse('key and model', { key: { allowedModels: ['tokens'] } }, chat, {
    code: 'model_not_allowed',
    model: 'flat',
    category: 'text',
    streamed: false,
  });
  const short = await refuse('credits', { credits: 0.5 }, chat, {
    code: 'insufficient_credits',
    status: 402,
  });
  t.same(short.detail, { hold: '1.000000', estimate: '1.000000', balance: '0.500000', held: '0.000000' });
});

t.test(
  'a call of a key that was just deleted is recorded as every later one: its body counts as unread',
  async (t) => {
    const { key, keyId, accountId } = await world.account({ credits: 100 });
    await ended(world.chat(key));
    await operator.delete(`/api/admin/accounts/${accountId}/keys/${keyId}/`);
    for (const _ of ['by the cached record', 'by the current one'])
      t.equal((await world.chat(key)).status, 401);
    const calls = await until('both records', async () => {
      const { body } = await operator.get<CallPageView>(
        `/api/admin/accounts/${accountId}/calls/?result=refused`,
      );
      return body.calls.length === 2 && body.calls;
    });
    for (const call of calls) t.match(call, { model: null, category: null, streamed: null });
  },
);

t.test('a key that cannot manage sees its own calls, and no balance', async (t) => {
  const owner = await world.account({ credits: 0.5 });
  const { body: other } = await apiOf(world, owner.key).post<{ id: number; key: string }>('/api/keys/', {
    name: 'reader',
    can_manage: false,
  });
  await ended(world.chat(owner.key));
  await ended(world.chat(other.key));
  const own = apiOf(world, other.key);
  const call = await recorded(own, '');
  t.equal(call.key_id, other.id);
  t.match(call.detail, { hold: '1.000000', balance: null, held: null });
  t.same(refusalOf(await own.get(`${PATH}?key_id=${owner.keyId}`)), [404, 'key_not_found', null]);
  const all = apiOf(world, owner.key);
  const mine = await recorded(all, `?key_id=${owner.keyId}`);
  t.match(mine.detail, { balance: '0.500000' });
  t.same(refusalOf(await own.get(`${PATH}${mine.id}/`)), [404, 'call_not_found', null]);
  t.equal((await all.get<CallView>(`${PATH}${mine.id}/`)).body.id, mine.id);
});

t.test('a limit of calls is named with its owner and the wait', async (t) => {
  const { key } = await world.account({ credits: 100, key: { rpmLimit: 1 } });
  await ended(world.chat(key));
  await ended(world.chat(key));
  const call = await recorded(apiOf(world, key), '?code=rate_limit_exceeded');
  t.match(call, { status: 429, model: 'flat', detail: { limit: 'rpm_limit', of: 'key' } });
  t.ok(Number(call.detail?.retry_after_ms) > 0);
});

t.test('the old value of a rotated key leads to its key', async (t) => {
  const owner = await world.account({ credits: 100 });
  const api = apiOf(world, owner.key);
  const { body: other } = await api.post<{ id: number; key: string }>('/api/keys/', { name: 'app' });
  const rotate = () => api.post<{ key: string }>(`/api/keys/${other.id}/rotate/`, {});
  await rotate();
  await rotate();
  const answer = await world.chat(other.key);
  t.equal(answer.status, 401);
  await answer.arrayBuffer();
  const call = await recorded(api, '?code=invalid_api_key');
  t.equal(call.key_id, other.id);
});

t.test("a provider's error is recorded in its words, without the operator's ids", async (t) => {
  const { key } = await world.account({ credits: 100 });
  const answer = await world.chat(key, { user: 'refused' });
  const { error } = (await answer.json()) as { error: { message: string } };
  t.equal(answer.headers.get('x-tollgate-source'), 'provider');
  t.equal(error.message, 'The organization … may not do this in ….');
  const [call] = await callsOf(apiOf(world, key), '?result=failed');
  t.match(call, {
    id: answer.headers.get('x-request-id') ?? '',
    status: 400,
    outcome: 'upstream_error',
    code: 'context_length_exceeded',
    message: error.message,
    param: 'messages',
    charge: '0.000000',
    upstream: 'test',
    attempts: [{ target: 'test', status: 400 }],
  });
  t.ok(Number.isSafeInteger(call?.first_byte_ms));
});

t.test('pages follow one another through both kinds of calls', async (t) => {
  const { key } = await world.account({ credits: 100 });
  const ids: string[] = [];
  for (let call = 0; call < 7; call++) {
    ids.push(await ended(world.chat(key, call % 2 === 0 ? {} : { model: 'nonesuch' })));
  }
  const api = apiOf(world, key);
  await until('all calls', async () => (await callsOf(api)).length === 7);
  const paged: string[] = [];
  let next: string | null = '';
  while (next !== null) {
    const query: string = next === '' ? '' : `&before=${encodeURIComponent(next)}`;
    const { body }: { body: CallPageView } = await api.get<CallPageView>(`${PATH}?limit=2${query}`);
    paged.push(...body.calls.map(({ id }) => id));
    next = body.next;
  }
  t.same(
    paged,
    (await callsOf(api)).map(({ id }) => id),
  );
  t.same([...paged].sort(), [...ids].sort());
  const times = (await callsOf(api)).map(({ created_at }) => created_at);
  t.same(times, [...times].sort().reverse(), 'newest first');
  t.equal((await callsOf(api, '?result=ok')).length, 4);
  t.equal((await callsOf(api, '?result=refused')).length, 3);
  t.equal((await callsOf(api, '?outcome=refused&model=nonesuch')).length, 3);
  t.equal((await callsOf(api, '?endpoint=/v1/embeddings')).length, 0);
  const first = times.at(-1) as string;
  t.equal((await callsOf(api, `?to=${first}`)).length, 1);
  t.equal((await callsOf(api, `?from=${times[0]}`)).length, 1);
  t.equal((await callsOf(api, `?from=${first.slice(0, 10)}&to=${first.slice(0, 10)}`)).length >= 1, true);
  const csv = await (await world.api('GET', `${PATH}?format=csv`, key)).text();
  t.equal(csv.trim().split('\r\n').length, 8);
  const jsonl = await (await world.api('GET', `${PATH}?format=jsonl`, key)).text();
  t.same(
    jsonl
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    await callsOf(api),
  );
});

t.test('queries that mean nothing are refused with the parameter', async (t) => {
  const { key } = await world.account();
  const api = apiOf(world, key);
  const wrong = {
    limit: 'limit=201',
    before: 'before=1024',
    from: 'from=2026-02-02&to=2026-02-01',
    to: 'to=yesterday',
    result: 'result=good',
    outcome: 'outcome=bad',
    endpoint: 'endpoint=/v1/nothing',
    format: 'format=xml',
    upstream: 'upstream=test',
    account_id: 'account_id=1',
  };
  for (const [name, query] of Object.entries(wrong)) {
    t.same(refusalOf(await api.get(`${PATH}?${query}`)), [400, 'invalid_field', name], query);
  }
  t.same(refusalOf(await api.get(`${PATH}req_nothing/`)), [404, 'call_not_found', null]);
});

t.test('the operator lists the calls of all accounts, and narrows them', async (t) => {
  const one = await world.account({ credits: 100, key: { name: 'one' } });
  const two = await world.account({ credits: 100 });
  const email = (await world.book.emails([one.accountId])).get(one.accountId) ?? '';
  const id = await ended(world.chat(one.key));
  const refused = await ended(world.chat(two.key, { model: 'nonesuch' }));
  const list = async (query: string) =>
    (await operator.get<{ calls: OperatorCallView[] }>(`/api/admin/calls/${query}`)).body.calls;
  const found = await until('both calls', async () => {
    const calls = await list('?limit=200');
    return calls.some((call) => call.id === refused) && calls;
  });
  t.match(
    found.find((call) => call.id === id),
    { account_id: one.accountId, account_email: email, key_name: 'one', key_id: one.keyId },
  );
  t.match(
    found.find((call) => call.id === refused),
    { account_id: two.accountId },
  );
  t.same(
    (await list(`?account_id=${one.accountId}`)).map((call) => call.id),
    [id],
  );
  t.same(
    (await list(`?key_id=${two.keyId}`)).map((call) => call.id),
    [refused],
  );
  for (const query of ['', `&account_id=${one.accountId}`]) {
    const csv = await (await world.api('GET', `/api/admin/calls/?format=csv${query}`, ADMIN_TOKEN)).text();
    const [head = '', line = ''] = csv.split('\r\n');
    t.match(head, /,account_id,key_name,member_id,member_name,account_email,cost$/);
    t.equal(csv.includes(email), true, query);
    if (query !== '') t.ok(line.endsWith(`,${one.accountId},one,,,${email},`), line);
  }
  t.ok((await list('?upstream=test')).every(({ upstream }) => upstream === 'test'));
  t.same(refusalOf(await operator.get('/api/admin/calls/?account_id=999999')), [
    404,
    'account_not_found',
    null,
  ]);
  t.same(refusalOf(await operator.get('/api/admin/calls/?key_id=999999')), [404, 'key_not_found', null]);
});

t.test('usage counts refused and failed calls', async (t) => {
  await dayThatLasts();
  const { key, keyId } = await world.account({ credits: 100 });
  await ended(world.chat(key));
  await ended(world.chat(key, { user: 'refused' }));
  await ended(world.chat(key, { model: 'nonesuch' }));
  const api = apiOf(world, key);
  await recorded(api, '?result=refused');
  const { body } = await api.get<UsageReportView>('/api/account/usage/');
  t.match(body.rows, [{ calls: 2, failed: 1, refused: 1 }]);
  t.match(body.total, { calls: 2, failed: 1, refused: 1 });
  const { body: byKey } = await api.get<UsageReportView>('/api/account/usage/?group_by=key');
  t.match(byKey.rows, [{ key_id: keyId, calls: 2, failed: 1, refused: 1 }]);
  const { body: byModel } = await api.get<UsageReportView>('/api/account/usage/?group_by=model');
  t.same(
    byModel.rows.map((row) => [row.model, row.calls, 'refused' in row]),
    [['flat', 2, false]],
  );
});

t.test('Codex is answered in its own terms, and the record has the true code', async (t) => {
  const { key } = await world.account({ credits: 0 });
  const body = { model: 'tokens', input: 'Hello', max_output_tokens: 100 };
  const answer = await world.api('POST', '/v1/responses', key, body, { originator: 'codex_cli_rs' });
  t.equal(answer.status, 429);
  const { error } = (await answer.json()) as { error: { message: string; code: string } };
  t.equal(error.code, 'usage_limit_reached');
  const call = await recorded(apiOf(world, key), '?result=refused');
  t.match(call, { code: 'insufficient_credits', status: 429, message: error.message, model: 'tokens' });
});
