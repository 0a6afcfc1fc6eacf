import t from 'tap';
import type { OperatorAccountView } from '../../src/api/account/account-view.ts';
import { apiOf, refusalOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startOwnGateway } from '../helper/start/gateway-in-process.ts';

/** An operator with a question about an account had to ask its owner for a key, or query the database. */
const world = await startOwnGateway(t);
const operator = apiOf(world, ADMIN_TOKEN);

const owner = await world.account({ credits: 50, threshold: 49.5 });
const ids: string[] = [];
for (const _ of [1, 2]) {
  const response = await world.chat(owner.key);
  await response.text();
  ids.push(response.headers.get('x-request-id') ?? '');
}
await world.settled();
await apiOf(world, owner.key).post('/api/account/alerts/test/');

const REPORTS = [
  'ledger/',
  'ledger/?limit=1',
  `ledger/?key_id=${owner.keyId}&type=charge&from=2020-01-01`,
  `ledger/${ids[0]}/`,
  'usage/',
  'usage/?group_by=model',
  `usage/?group_by=key&key_id=${owner.keyId}`,
  'alerts/',
  'alerts/?limit=1',
];

t.test('the operator reads the same as the owner', async (t) => {
  for (const report of REPORTS) {
    const [own, theirs] = await Promise.all([
      apiOf(world, owner.key).get(`/api/account/${report}`),
      operator.get(`/api/admin/accounts/${owner.accountId}/${report}`),
    ]);
    t.equal(theirs.status, 200, report);
    t.same(theirs.body, own.body, report);
  }
});

t.test('an operator exports the ledger of an account', async (t) => {
  for (const format of ['csv', 'jsonl']) {
    const path = `ledger/?format=${format}`;
    const theirs = await world.api('GET', `/api/admin/accounts/${owner.accountId}/${path}`, ADMIN_TOKEN);
    t.match(theirs.headers.get('content-disposition'), `ledger.${format}`);
    const text = await theirs.text();
    t.equal(text, await (await world.api('GET', `/api/account/${path}`, owner.key)).text());
    t.match(text, ids[1]);
  }
});

t.test('an invalid query is refused as an owner’s is', async (t) => {
  const path = `/api/admin/accounts/${owner.accountId}/`;
  const wrong = (param: string) => [400, 'invalid_field', param];
  t.same(refusalOf(await operator.get(`${path}ledger/?limit=0`)), wrong('limit'));
  t.same(refusalOf(await operator.get(`${path}usage/?from=x`)), wrong('from'));
  t.same(refusalOf(await operator.get(`${path}alerts/?limit=x`)), wrong('limit'));
  t.same(refusalOf(await operator.get(`${path}ledger/nobody/`)), [404, 'entry_not_found', null]);
});

t.test('an account that is not there has nothing to read, nor has one entry of another', async (t) => {
  for (const report of REPORTS) {
    const answer = await operator.get(`/api/admin/accounts/987654321/${report}`);
    t.same(refusalOf(answer), [404, 'account_not_found', null], report);
  }
  const other = await world.account();
  const answer = await operator.get(`/api/admin/accounts/${other.accountId}/ledger/${ids[0]}/`);
  t.same(refusalOf(answer), [404, 'entry_not_found', null]);
});

t.test('an owner is no operator', async (t) => {
  for (const report of REPORTS) {
    const answer = await apiOf(world, owner.key).get(`/api/admin/accounts/${owner.accountId}/${report}`);
    t.same(refusalOf(answer), [401, 'invalid_admin_token', null], report);
  }
});

t.test('accounts are found by a part of their e-mail address, in any case', async (t) => {
  for (const email of [
    'Ann_B@Search.example',
    'annXb@search.example',
    'zoë@search.example',
    '100%@x.example',
  ]) {
    await world.account({ email });
  }
  const found = async (part: string, more = '') => {
    const path = `/api/admin/accounts/?email=${encodeURIComponent(part)}${more}`;
    const { body } = await operator.get<{ accounts: OperatorAccountView[]; next: string | null }>(path);
    return body.accounts.map(({ email }) => email);
  };
  t.same(await found('SEARCH.example'), [
    'Ann_B@Search.example',
    'annXb@search.example',
    'zoë@search.example',
  ]);
  t.same(await found('ann_b'), ['Ann_B@Search.example'], '_ is no placeholder');
  t.same(await found('%'), ['100%@x.example'], 'nor is %');
  t.same(await found('ZOË'), ['zoë@search.example']);
  t.same(await found('\\'), []);
  t.same(await found("' or 1=1 --"), []);
  const { body } = await operator.get<{ next: string }>('/api/admin/accounts/?email=search.example&limit=1');
  t.same(await found('search.example', `&limit=1&after=${body.next}`), ['annXb@search.example']);
  t.same(refusalOf(await operator.get('/api/admin/accounts/?email=')), [400, 'invalid_field', 'email']);
});
