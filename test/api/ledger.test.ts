import t from 'tap';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);

interface Page {
  readonly entries: readonly EntryView[];
  readonly next: string | null;
}

/** An account whose ledger holds its top-up and `calls` charges of 1 credit. */
async function spender(calls: number) {
  const owner = await world.account({ credits: 100 });
  for (let call = 0; call < calls; call++) await (await world.chat(owner.key)).text();
  await world.settled();
  return { ...owner, api: apiOf(world, owner.key) };
}

t.test('a charge has every field of specification section 7', async (t) => {
  const owner = await world.account({ credits: 100 });
  const response = await world.chat(owner.key);
  await response.text();
  await world.settled();
  const { status, body } = await apiOf(world, owner.key).get<Page>('/api/account/ledger/');
  t.equal(status, 200);
  const [entry] = body.entries;
  t.match(entry?.created_at, /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
  t.ok((entry?.usage.input_tokens ?? 0) > 0);
  t.same(entry, {
    id: response.headers.get('x-request-id'),
    type: 'charge',
    created_at: entry?.created_at,
    key_id: owner.keyId,
    key_name: entry?.key_name,
    member: null,
    model: 'flat',
    category: 'text',
    endpoint: '/v1/chat/completions',
    status: 200,
    outcome: 'complete',
    usage: entry?.usage,
    estimated: false,
    credits: '-1.000000',
    balance_after: '99.000000',
    note: null,
    price: { input: 0, output: 0, request: 1 },
    multiplier: 1,
    upstream: 'test',
    attempts: [{ target: 'test', status: 200, ms: entry?.duration_ms }],
    duration_ms: entry?.duration_ms,
    first_byte_ms: entry?.first_byte_ms,
    streamed: false,
  });
  t.ok(Number.isSafeInteger(entry?.duration_ms));
  t.ok(Number.isSafeInteger(entry?.first_byte_ms));
});

t.test('entries are found by their type and their model', async (t) => {
  const { api, key } = await spender(2);
  await (await world.chat(key, { model: 'renamed' })).text();
  await world.settled();
  const found = async (query: string) =>
    (await api.get<Page>(`/api/account/ledger/?${query}`)).body.entries.map(({ type, model }) => [
      type,
      model,
    ]);
  t.same(await found('type=top_up'), [['top_up', null]]);
  t.same(await found('type=charge&model=renamed'), [['charge', 'renamed']]);
  t.same(await found('model=flat'), [
    ['charge', 'flat'],
    ['charge', 'flat'],
  ]);
  t.same(await found('model=flat&type=refund'), []);
  const { body } = await api.get<Page>('/api/account/ledger/?model=flat&limit=1');
  t.match(await found(`model=flat&limit=1&before=${body.next}`), [['charge', 'flat']]);
});

t.test('a type that is none is refused', async (t) => {
  const { api } = await spender(0);
  t.same(refusalOf(await api.get('/api/account/ledger/?type=gift')), [400, 'invalid_field', 'type']);
  t.same(refusalOf(await api.get('/api/account/ledger/?model=a&model=b')), [400, 'invalid_field', 'model']);
});

t.test('a top-up has no call to speak of', async (t) => {
  const { api } = await spender(0);
  const { body } = await api.get<Page>('/api/account/ledger/');
  t.match(body, {
    entries: [
      {
        type: 'top_up',
        key_id: null,
        key_name: null,
        member: null,
        model: null,
        category: null,
        endpoint: null,
        status: null,
        outcome: null,
        estimated: false,
        credits: '100.000000',
        balance_after: '100.000000',
      },
    ],
    next: null,
  });
  t.same(body.entries[0]?.usage, {});
});

t.test('pages follow each other, newest first, without a gap or a repeat', async (t) => {
  const { api } = await spender(4);
  const balances: string[] = [];
  let next: string | null = '';
  let pages = 0;
  while (next !== null) {
    const before: string = next === '' ? '' : `&before=${next}`;
    const { body } = await api.get<Page>(`/api/account/ledger/?limit=2${before}`);
    balances.push(...body.entries.map((entry) => entry.balance_after ?? ''));
    next = body.next;
    pages++;
  }
  t.same(balances, ['96.000000', '97.000000', '98.000000', '99.000000', '100.000000']);
  t.equal(pages, 3);
});

t.test('a full last page is known as the last', async (t) => {
  const { api } = await spender(1);
  const { body } = await api.get<Page>('/api/account/ledger/?limit=2');
  t.same([body.entries.length, body.next], [2, null]);
});

t.test('the ledger of one key', async (t) => {
  const owner = await spender(1);
  const { body: other } = await owner.api.post<CreatedKeyView>('/api/keys/', { name: 'other' });
  await (await world.chat(other.key)).text();
  await (await world.chat(other.key)).text();
  await world.settled();
  const { body } = await owner.api.get<Page>(`/api/account/ledger?key_id=${other.id}&limit=1`);
  t.match(body.entries, [{ key_id: other.id, balance_after: '97.000000' }]);
  const rest = await owner.api.get<Page>(`/api/account/ledger?key_id=${other.id}&before=${body.next}`);
  t.match(rest.body, { entries: [{ key_id: other.id, balance_after: '98.000000' }], next: null });
});

t.test("an unknown key and another account's are not there, and a deleted one is", async (t) => {
  const { api, accountId } = await spender(0);
  const { body: deleted } = await api.post<CreatedKeyView>('/api/keys/', { name: 'deleted' });
  await (await world.chat(deleted.key)).text();
  await world.settled();
  await api.delete(`/api/keys/${deleted.id}/`);
  const stranger = await spender(1);
  const operator = apiOf(world, ADMIN_TOKEN);
  const asked = [
    'ledger/?',
    'ledger/?format=csv&',
    'ledger/?format=jsonl&',
    'usage/?',
    'usage/?group_by=key&',
  ];
  for (const [reader, path] of [
    [api, '/api/account/'],
    [operator, `/api/admin/accounts/${accountId}/`],
  ] as const) {
    for (const query of asked) {
      for (const id of [stranger.keyId, 987_654_321]) {
        const answer = await reader.get(`${path}${query}key_id=${id}`);
        t.same(refusalOf(answer), [404, 'key_not_found', null], `${path}${query}`);
      }
    }
    const { body } = await reader.get<Page>(`${path}ledger/?key_id=${deleted.id}`);
    t.match(body.entries, [{ key_id: deleted.id }]);
    t.match((await reader.get(`${path}usage/?key_id=${deleted.id}`)).body, { total: { calls: 1 } });
  }
});

t.test('an invalid query is refused by the name of the parameter', async (t) => {
  const { api } = await spender(0);
  const bad = {
    limit: ['0', '1001', '-1', 'x', '1.5', '', '1e2'],
    before: ['0', 'x', '-1', '', '99999999999999999999'],
    key_id: ['0', 'x', '-1', '', '9007199254740993'],
    format: ['xml', 'CSV', ''],
  };
  for (const [name, values] of Object.entries(bad)) {
    for (const value of values) {
      const answer = await api.get(`/api/account/ledger/?${name}=${value}`);
      t.same(refusalOf(answer), [400, 'invalid_field', name], `${name}=${value}`);
    }
  }
  t.same(refusalOf(await api.get('/api/account/ledger/?limit=1&limit=2')), [400, 'invalid_field', 'limit']);
});
