import t from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import type { MarginReportView } from '../../src/api/operator/margin-view.ts';
import { dayThatLasts, until } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { creditPrice } from '../helper/fixtures/credit-price.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, startOwnGateway, testCatalog } from '../helper/start/gateway-in-process.ts';

/** `tokens` is sold at twice the provider's price; the cost of `flat` is unknown. */
const provider = await startScriptedProvider({
  behave: () => ({ usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } }),
});
t.teardown(() => provider.close());
const catalog = new Map(testCatalog(provider.url));
for (const slug of ['tokens', 'claude']) {
  const model = catalog.get(slug);
  if (!model) throw new Error('no such model');
  catalog.set(slug, { ...model, priceSource: 'list', cost: creditPrice({ input: 500, output: 1_000 }) });
}
const world = await startOwnGateway(t, { provider, config: { catalog } });
await dayThatLasts();
const operator = apiOf(world, ADMIN_TOKEN);
const first = await world.account({ credits: 100 });
const second = await world.account({ credits: 100 });
for (const [key, model] of [
  [first.key, 'tokens'],
  [first.key, 'flat'],
  [second.key, 'tokens'],
] as const) {
  await (await world.chat(key, { model })).text();
}

const report = async (query: string) =>
  (await operator.get<MarginReportView>(`/api/admin/usage/${query}`)).body;
const USAGE = { input_tokens: 100, output_tokens: 50, requests: 1 };

t.test(
  'by account, with cost and margin where the cost is known; calls of this moment are there soon',
  async (t) => {
    const body = await until('the calls of this moment', async () => {
      const found = await report('');
      return found.total.calls === 3 && found;
    });
    t.match(body, { group_by: 'account' });
    t.equal(Date.parse(body.to) - Date.parse(body.from), 29 * 86_400_000);
    t.same(
      body.rows.map(({ usage: _, email: __, account_email: ___, ...row }) => row),
      [
        {
          account_id: first.accountId,
          calls: 2,
          charged: '1.200000',
          charged_with_cost: '0.200000',
          cost: '0.100000',
          margin: '0.100000',
        },
        {
          account_id: second.accountId,
          calls: 1,
          charged: '0.200000',
          charged_with_cost: '0.200000',
          cost: '0.100000',
          margin: '0.100000',
        },
      ],
    );
    const { requests: _, ...used } = USAGE;
    t.same(body.rows[1]?.usage, used);
    t.match(body.total, {
      calls: 3,
      charged: '1.400000',
      charged_with_cost: '0.400000',
      cost: '0.200000',
      margin: '0.200000',
      usage: { input_tokens: 300, output_tokens: 150 },
    });
  },
);

t.test('by key, model, upstream and day; where nothing has a cost there is no margin', async (t) => {
  const keys = await report('?group_by=key');
  t.match(keys.rows, [
    { key_id: first.keyId, charged: '1.200000' },
    { key_id: second.keyId, margin: '0.100000' },
  ]);
  const models = await report('?group_by=model');
  t.match(models.rows, [
    { model: 'flat', charged: '1.000000', charged_with_cost: '0.000000', cost: null, margin: null },
    { model: 'tokens', charged: '0.400000', cost: '0.200000', margin: '0.200000' },
  ]);
  t.match((await report('?group_by=upstream')).rows, [{ upstream: 'test', calls: 3, cost: '0.200000' }]);
  const days = await report('?group_by=day');
  t.match(days.rows, [{ day: days.to, calls: 3 }]);
  for (const { rows, total } of [keys, models, days]) {
    t.match(total, { calls: 3, charged: '1.400000', cost: '0.200000' });
    t.ok(rows.length > 0);
  }
});

t.test('keys of one name stay apart, each with its account, however the report is grouped', async (t) => {
  const names = [first, second].map(({ accountId, keyId }) => ({
    account_id: accountId,
    account_email: /@/,
    key_id: keyId,
    key_name: 'test',
  }));
  for (const group of ['key', 'account,key', 'key,account']) {
    const { rows } = await report(`?group_by=${group}`);
    t.match(rows, names, group);
    t.not(rows[0]?.account_email, rows[1]?.account_email, group);
    const csv = await world.api('GET', `/api/admin/usage/?format=csv&group_by=${group}`, ADMIN_TOKEN);
    const [head = '', ...lines] = (await csv.text()).trimEnd().split('\r\n');
    const columns = head.split(',');
    t.equal(new Set(columns).size, columns.length, 'no column twice');
    const read = lines.map((line) => {
      const cells = line.split(',');
      return Object.fromEntries(columns.map((column, at) => [column, cells[at]]));
    });
    t.same(
      read.map(({ account_id, account_email, key_id, key_name }) => [
        account_id,
        account_email,
        key_id,
        key_name,
      ]),
      rows.map((row) => [String(row.account_id), row.account_email, String(row.key_id), row.key_name]),
      group,
    );
  }
});

t.test('a span is whole days, both included, as in the report of an owner', async (t) => {
  const none = await report('?group_by=model&from=2020-01-01&to=2020-12-31');
  t.match(none, { from: '2020-01-01', to: '2020-12-31', rows: [] });
  t.match(none.total, { calls: 0, charged: '0.000000', cost: null, margin: null });
  const today = new Date().toISOString().slice(0, 10);
  t.equal((await report(`?from=2026-01-01&to=2026-01-01`)).rows.length, 0);
  t.equal((await report(`?to=${today}`)).total.calls, 3);
});

t.test('as CSV: a line of names, then a line for each row', async (t) => {
  const response = await world.api('GET', '/api/admin/usage/?group_by=model&format=csv', ADMIN_TOKEN);
  t.equal(response.headers.get('content-disposition'), 'attachment; filename="usage.csv"');
  t.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8');
  const lines = (await response.text()).split('\r\n');
  t.match(lines[0], /^model,calls,charged,charged_with_cost,cost,margin,input_tokens,output_tokens,/);
  t.match(lines[1], /^flat,1,1\.000000,0\.000000,,,100,50,/);
  t.match(lines[2], /^tokens,2,0\.400000,0\.400000,0\.200000,0\.200000,200,100,/);
  t.same(lines.slice(3), ['']);
  const empty = await world.api('GET', '/api/admin/usage/?format=csv&to=2020-01-01', ADMIN_TOKEN);
  t.match(await empty.text(), /^account_id,calls,[a-z_,0-9]+\r\n$/);
});

t.test('an invalid query is refused with the parameter', async (t) => {
  for (const [query, param] of [
    ['group_by=category', 'group_by'],
    ['from=yesterday', 'from'],
    ['from=2026-02-01&to=2026-01-01', 'from'],
    ['from=2020-01-01&to=2026-01-01', 'from'],
    ['format=jsonl', 'format'],
    ['key_id=1', 'key_id'],
    ['group_by=day&group_by=key', 'group_by'],
  ] as const) {
    const answer = await operator.get(`/api/admin/usage/?${query}`);
    t.same(refusalOf(answer), [400, 'invalid_field', param], query);
  }
});

t.test(
  'only the operator sees cost and margin: no route of an owner shows them, and neither does the report of one account',
  async (t) => {
    const owner = apiOf(world, first.key);
    t.same(refusalOf(await owner.get('/api/admin/usage/')), [401, 'invalid_admin_token', null]);
    const { body } = await owner.get<{ entries: EntryView[] }>('/api/account/ledger/?model=tokens');
    const [entry] = body.entries;
    t.match(entry, { price: { input: 1_000, output: 2_000 }, multiplier: 1, credits: '-0.200000' });
    const texts = [];
    for (const path of [
      'account/',
      'account/ledger/',
      'account/ledger/?format=csv',
      'account/ledger/?format=jsonl',
      `account/ledger/${entry?.id}/`,
      ...['day', 'key', 'model'].map((group) => `account/usage/?group_by=${group}`),
      'keys/',
    ]) {
      const response = await world.api('GET', `/api/${path}`, first.key);
      t.equal(response.status, 200, path);
      texts.push(await response.text());
    }
    texts.push(await (await world.api('GET', '/v1/models', first.key)).text());
    for (const text of texts) t.notMatch(text, /cost|margin|0\.100000/i);
  },
);
