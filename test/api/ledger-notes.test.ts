import t from 'tap';
import type { EntryView } from '../../src/api/ledger/entry-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const operator = apiOf(world, ADMIN_TOKEN);
const PATH = '/api/account/ledger/';

/** An operator's note on a top-up was in the database, but nothing showed it. */
t.test('the note of a top-up and of an adjustment is in the ledger, in every form of it', async (t) => {
  const { accountId, key } = await world.account({ credits: 10 });
  const change = (amount: number, note?: string) =>
    operator.post(`/api/admin/accounts/${accountId}/credits/`, { amount, ...(note ? { note } : {}) });
  await change(5, 'Invoice 1001, "paid"');
  await change(-1, 'Correction');
  await change(2);
  await (await world.chat(key)).text();
  await world.settled();
  const { body } = await apiOf(world, key).get<{ entries: EntryView[] }>(PATH);
  t.same(
    body.entries.map(({ type, note }) => [type, note]),
    [
      ['charge', null],
      ['top_up', null],
      ['adjustment', 'Correction'],
      ['top_up', 'Invoice 1001, "paid"'],
      ['top_up', null],
    ],
  );
  const csv = await (await world.api('GET', `${PATH}?format=csv`, key)).text();
  const lines = csv.split('\r\n');
  t.match(
    lines[0],
    /,requests,note,price,/,
    'after the columns that were there before it, so that they keep their places',
  );
  t.match(lines[4], /,"Invoice 1001, ""paid""",,/);
  const jsonl = await (await world.api('GET', `${PATH}?format=jsonl&type=adjustment`, key)).text();
  t.match(JSON.parse(jsonl), { note: 'Correction' });
  const [, , adjustment] = body.entries;
  const one = await apiOf(world, key).get<EntryView>(`${PATH}${adjustment?.id}/`);
  t.same(one.body, adjustment, 'a single entry is the bare object');
});

t.test('the first credits of an account have a note', async (t) => {
  const made = await operator.post<{ key: { key: string } }>('/api/admin/accounts/', {
    email: 'notes@example.com',
    credits: 5,
  });
  const { body } = await apiOf(world, made.body.key.key).get<{ entries: EntryView[] }>(PATH);
  t.match(body.entries, [{ type: 'top_up', note: 'Initial credits' }]);
});

t.test('a call or stream can be found by its x-request-id as soon as it is answered', async (t) => {
  const { key, keyId } = await world.account({ credits: 10 });
  const response = await world.chat(key, { stream: true });
  await response.text();
  const { status, body } = await apiOf(world, key).get<EntryView>(
    `${PATH}${response.headers.get('x-request-id')}/`,
  );
  t.equal(status, 200);
  t.match(body, { type: 'charge', key_id: keyId, credits: '-1.000000', balance_after: '9.000000' });
});

t.test('an entry of another account gets 404, and so does an impossible id', async (t) => {
  const [one, other] = [await world.account(), await world.account()];
  const response = await world.chat(one.key);
  await response.text();
  await world.settled();
  const missing = [404, 'entry_not_found', null];
  const api = apiOf(world, other.key);
  t.same(refusalOf(await api.get(`${PATH}${response.headers.get('x-request-id')}/`)), missing);
  for (const id of ['x', '%00', '1', "'", '%25', 'req_%F0%9F%98%80'])
    t.same(refusalOf(await api.get(`${PATH}${id}/`)), missing, id);
});
