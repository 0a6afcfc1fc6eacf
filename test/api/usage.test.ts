import t from 'tap';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import type { EntryView, UsageView } from '../../src/api/ledger/entry-view.ts';
import { dayThatLasts } from '../helper/check/until.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t, {
  behave: () => ({ usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 } }),
});
await dayThatLasts();
const owner = await world.account({ credits: 100 });
const api = apiOf(world, owner.key);
const { body: second } = await api.post<CreatedKeyView>('/api/keys/', { name: 'second' });
for (const [key, model] of [
  [owner.key, 'flat'],
  [owner.key, 'tokens'],
  [second.key, 'tokens'],
] as const) {
  await (await world.chat(key, { model })).text();
}
await world.settled();
const [charge] = (await api.get<{ entries: EntryView[] }>('/api/account/ledger/')).body.entries;
/** The UTC day of the calls above. */
const DAY = charge?.created_at.slice(0, 10) ?? '';

interface Sums {
  readonly calls: number;
  readonly credits: string;
  readonly usage: UsageView;
}
interface Report {
  readonly from: string;
  readonly to: string;
  readonly group_by: string;
  readonly rows: readonly (Sums & { day?: string; key_id?: number | null; model?: string | null })[];
  readonly total: Sums;
}

const daysBefore = (day: string, days: number) =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);
const report = async (query = '') => (await api.get<Report>(`/api/account/usage/${query}`)).body;

t.test('by day, the last 30 days up to today, unless asked otherwise', async (t) => {
  const body = await report();
  t.ok(body.to >= DAY);
  t.match(body, { from: daysBefore(body.to, 29), group_by: 'day' });
  t.equal(body.rows.length, 1);
  t.match(body.rows, [
    { day: DAY, calls: 3, credits: '1.400000', usage: { input_tokens: 300, output_tokens: 150 } },
  ]);
  t.same(Object.keys(body.rows[0] ?? {}).sort(), ['calls', 'credits', 'day', 'failed', 'refused', 'usage']);
});

t.test('by key', async (t) => {
  const body = await report('?group_by=key');
  t.match(body.rows, [
    { key_id: owner.keyId, calls: 2, credits: '1.200000' },
    { key_id: second.id, calls: 1, credits: '0.200000' },
  ]);
});

t.test('by model', async (t) => {
  const body = await report('?group_by=model');
  t.match(body.rows, [
    { model: 'flat', calls: 1, credits: '1.000000' },
    { model: 'tokens', calls: 2, credits: '0.400000', usage: { input_tokens: 200 } },
  ]);
});

t.test('the total is the sum of the rows, however they are grouped', async (t) => {
  for (const group of ['day', 'key', 'model']) {
    const { total } = await report(`?group_by=${group}`);
    t.match(
      total,
      { calls: 3, credits: '1.400000', usage: { input_tokens: 300, output_tokens: 150 } },
      group,
    );
  }
});

t.test('from and to are both included', async (t) => {
  t.equal((await report(`?from=${DAY}&to=${DAY}`)).total.calls, 3);
  const before = await report(`?to=${daysBefore(DAY, 1)}`);
  t.match(before, {
    from: daysBefore(DAY, 30),
    to: daysBefore(DAY, 1),
    rows: [],
    total: { calls: 0, credits: '0.000000' },
  });
  t.same(before.total.usage, {});
});

t.test('a range covers at most a leap year', async (t) => {
  t.equal((await api.get('/api/account/usage?from=2024-01-01&to=2024-12-31')).status, 200);
  const answer = await api.get('/api/account/usage?from=2024-01-01&to=2025-01-01');
  t.same(refusalOf(answer), [400, 'invalid_field', 'from']);
});

t.test('another account sees none of it', async (t) => {
  const stranger = await world.account();
  const { body } = await apiOf(world, stranger.key).get<Report>('/api/account/usage/');
  t.same(body.rows, []);
});

t.test('an invalid query is refused by the name of the parameter', async (t) => {
  const bad = [
    ['from', '2026-02-30'],
    ['from', '2026-1-1'],
    ['from', '1969-12-31'],
    ['from', '2999-01-01'],
    ['to', 'today'],
    ['to', '2026-01-01T00:00:00Z'],
    ['to', ''],
    ['group_by', 'week'],
    ['group_by', 'constructor'],
  ];
  for (const [name, value] of bad) {
    const answer = await api.get(`/api/account/usage/?${name}=${value}`);
    t.same(refusalOf(answer), [400, 'invalid_field', name], `${name}=${value}`);
  }
});

t.test('the earliest day there is', async (t) => {
  t.match(await report('?to=1970-01-02'), { from: '1970-01-01', to: '1970-01-02', rows: [] });
});
