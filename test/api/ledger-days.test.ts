import t from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { micro } from '../../src/domain/credits.ts';
import type { JournalEntry } from '../../src/domain/ledger-entry.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const DAY_MS = 86_400_000;
const world = await startGatewayInProcess(t);
const owner = await world.account({ credits: 100 });
await world.settled();
const api = apiOf(world, owner.key);

/** Charges of 1 credit on these days, in this order, as the journal's drain would post them. */
const DAYS = ['2026-01-31', '2026-02-01', '2026-02-01', '2026-02-28', '2026-03-01'];
const [first] = await world.book.ledger({ accountId: owner.accountId, limit: 1 });
const [place] = (await world.book.recentAccounts(0)).filter(({ id }) => id === owner.accountId);
await world.book.post(
  DAYS.map(
    (day, index): JournalEntry => ({
      id: `of-${index}`,
      type: 'charge',
      accountId: owner.accountId,
      keyId: owner.keyId,
      createdAt: Date.parse(day) + (index % 2 === 0 ? 0 : DAY_MS - 1),
      model: 'flat',
      category: 'text',
      endpoint: '/v1/chat/completions',
      status: 200,
      outcome: 'complete',
      usage: { input: 10 },
      estimated: false,
      credits: micro(-1_000_000),
      seq: (first?.seq ?? 0) + 1 + index,
      epoch: place?.epoch ?? 0,
      balanceAfter: micro(100_000_000 - (1 + index) * 1_000_000),
      day: Date.parse(day) / DAY_MS,
      threshold: micro(0),
    }),
  ),
);

interface Page {
  readonly entries: readonly EntryView[];
  readonly next: string | null;
}
const PATH = '/api/account/ledger/';
const ids = async (query: string) =>
  (await api.get<Page>(`${PATH}?${query}`)).body.entries.map(({ id }) => id);

t.test('from and to are days of UTC, both included', async (t) => {
  t.same(await ids('from=2026-02-01&to=2026-02-28'), ['of-3', 'of-2', 'of-1']);
  t.same(await ids('from=2026-02-01&to=2026-02-01'), ['of-2', 'of-1']);
  t.same(await ids('to=2026-01-31'), ['of-0']);
  t.same((await ids('from=2026-03-01')).at(-1), first?.id, 'with the top-up of today');
  t.same(await ids('from=2026-02-02&to=2026-02-27'), []);
  t.same(await ids('from=1970-01-01&to=9999-12-31&type=charge&limit=2'), ['of-4', 'of-3'], 'any span');
});

t.test('pages stay within the days', async (t) => {
  const { body } = await api.get<Page>(`${PATH}?from=2026-02-01&to=2026-02-28&limit=2`);
  t.same(await ids(`from=2026-02-01&to=2026-02-28&limit=2&before=${body.next}`), ['of-1']);
  const all = await api.get<Page>(`${PATH}?from=2026-02-01&to=2026-02-28&limit=3`);
  t.equal(all.body.next, null, 'what is older belongs to no page');
});

t.test('an export has the entries of the days alone', async (t) => {
  const exported = async (query: string) =>
    await (await world.api('GET', `${PATH}?${query}`, owner.key)).text();
  const csv = await exported('format=csv&from=2026-02-01&to=2026-02-28');
  t.same(
    csv
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[0]),
    ['of-3', 'of-2', 'of-1'],
  );
  const lines = await exported('format=jsonl&to=2026-01-31');
  t.match(JSON.parse(lines), { id: 'of-0' });
});

t.test('a usage report agrees with the ledger of the same days', async (t) => {
  const { body } = await api.get<{ total: { calls: number } }>(
    '/api/account/usage/?from=2026-02-01&to=2026-02-28',
  );
  t.equal(body.total.calls, 3);
});

t.test('days that are none are refused by name', async (t) => {
  for (const [name, value] of [
    ['from', '2026-02-30'],
    ['from', '1969-12-31'],
    ['from', ''],
    ['to', 'today'],
    ['to', '2026-01-01T00:00:00Z'],
  ]) {
    const answer = await api.get(`${PATH}?${name}=${value}`);
    t.same(refusalOf(answer), [400, 'invalid_field', name], `${name}=${value}`);
  }
  const backwards = await api.get(`${PATH}?format=csv&from=2026-02-02&to=2026-02-01`);
  t.same(refusalOf(backwards), [400, 'invalid_field', 'from']);
});
