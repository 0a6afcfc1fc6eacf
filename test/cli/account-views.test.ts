import t from 'tap';
import { until } from '../helper/check/until.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { startGatewayForCommands } from '../helper/start/command.ts';

const { gateway, operator, json } = await startGatewayForCommands(t);

t.test('the operator reads the ledger of an account, page by page', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const id = String(owner.accountId);
  await operator('account', 'credit', id, '5', '--note', 'Invoice 7');
  const { output } = await operator('account', 'ledger', id);
  t.match(output.split('\n')[0], /^TIME +TYPE +STATUS +OUTCOME +KEY +CREDITS +BALANCE +MODEL OR NOTE +ID$/);
  t.match(output, /top_up +5\.000000 +105\.000000 +Invoice 7/);
  t.equal((await gateway.chat(owner.key)).status, 200);
  await until('the charge', async () =>
    /charge +200 +complete /.test((await operator('account', 'ledger', id)).output),
  );
  const first = await operator('account', 'ledger', id, '--limit', '1');
  const [, cursor = ''] = /^More entries: --before (\S+)$/m.exec(first.output) ?? [];
  const rest = await json<{ entries: unknown[] }>('account', 'ledger', id, '--before', cursor);
  t.equal(rest.entries.length, 2);
  const ofKey = await json<{ entries: { type: string }[] }>(
    'account',
    'ledger',
    id,
    '--key-id',
    String(owner.keyId),
  );
  t.same(
    ofKey.entries.map(({ type }) => type),
    ['charge'],
  );
  const later = await json<{ entries: unknown[] }>('account', 'ledger', id, '--from', '2100-01-01');
  t.same(later.entries, []);
});

t.test('the operator reads the usage of an account by day, key and model', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const id = String(owner.accountId);
  t.equal((await gateway.chat(owner.key)).status, 200);
  const { output } = await operator('account', 'usage', id, '--group-by', 'key');
  t.match(output, new RegExp(`^KEY +CALLS +CREDITS\\n${owner.keyId} \\S+ +1 +\\S+\\ntotal +1 `));
  t.match(await json('account', 'usage', id, '--group-by', 'model'), {
    group_by: 'model',
    total: { calls: 1 },
  });
  t.match(await json('account', 'usage', id, '--from', '2020-01-01', '--to', '2020-01-02'), {
    total: { calls: 0 },
  });
});

t.test('the operator reads the usage of all accounts, and the margin if the cost is known', async (t) => {
  const owner = await makeOwner(gateway, 100);
  t.equal((await gateway.chat(owner.key)).status, 200);
  const { output } = await operator('usage');
  t.match(output, /^ACCOUNT +CALLS +CHARGED +OF THAT WITH COST +COST +MARGIN\n/);
  t.match(output, new RegExp(`^${owner.accountId} \\S+ +1 +\\S+ +0\\.000000 +unknown +unknown$`, 'm'));
  t.match(output, /^total +\d+ /m);
  t.match(await json('usage', '--group-by', 'upstream'), {
    group_by: 'upstream',
    rows: [{ upstream: String }],
  });
  t.equal((await gateway.chat('sk-tg-unknown')).status, 401);
  t.equal((await gateway.chat(owner.key, { model: 'nonesuch' })).status, 404);
  const places = await operator('usage', '--group-by', 'account,model');
  t.notMatch(places.output, /none +0 /);
  const { code, errors } = await operator('usage', '--group-by', 'color');
  t.equal(code, 2);
  t.match(errors, /account, key, model, upstream, day, hour/);
});

t.test('the operator reads the alerts of an account', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const { code, output } = await operator('account', 'alerts', String(owner.accountId));
  t.same([code, output], [0, 'ID  TIME  BALANCE  TEST  DELIVERIES\n']);
});

t.test('the operator lists calls, refused ones too, and follows them', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const account = String(owner.accountId);
  t.equal((await gateway.chat(owner.key)).status, 200);
  const refused = await gateway.chat(owner.key, { model: 'nonesuch' });
  t.equal(refused.status, 404);
  const id = refused.headers.get('x-request-id') ?? '';
  const output = await until('the refused call', async () => {
    const told = await operator('calls', '--account', account);
    return told.output.includes(id) && told.output;
  });
  t.match(
    output.split('\n')[0],
    /^TIME +ACCOUNT +KEY +MODEL +STATUS +RESULT +CHARGE +MS +PROVIDER +REQUEST +MESSAGE$/,
  );
  t.match(output, new RegExp(`${account} +${owner.keyId} +nonesuch +404 +model_not_found +0\\.000000 `));
  t.equal(
    (await json<{ calls: unknown[] }>('calls', '--account', account, '--result', 'ok')).calls.length,
    1,
  );
  const { code, errors } = await operator('calls', '--result', 'fine');
  t.equal(code, 2);
  t.match(errors, /ok, refused, failed/);
});

t.test('the ledger takes days, as its help says, and no times', async (t) => {
  const { output } = await operator('account', 'ledger', '--help');
  t.match(output, /--from <day>/);
  t.match(await operator('account', 'ledger', '1', '--from', '2026-11-01T00:00:00Z'), {
    code: 1,
    errors: /must be a date in the form YYYY-MM-DD/,
  });
});
