import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import { tollgate } from '../helper/start/command.ts';
import { startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { makePlace } from '../helper/start/gateway-process.ts';

const place = makePlace(t, 'http://127.0.0.1:1');
const gateway = await startOwnGateway(t, { dataDir: place.dataDir });
const owner = await makeOwner(gateway, 100);
const reconcile = (...args: string[]) => tollgate(['reconcile', ...args], place.env);

t.test('sound accounts are proved: exit code 0', async (t) => {
  t.match(await reconcile(), { code: 0, output: 'accounts checked: 1, differences: 0\n', errors: '' });
  const { output } = await reconcile('--json');
  t.same(JSON.parse(output), { accounts: 1, differences: [], live: true });
});

t.test('a difference is printed exactly, with exit code 1', async (t) => {
  const book = new DatabaseSync(join(place.dataDir, 'book.sqlite'), { timeout: 5_000 });
  book.exec(`update accounts set balance = balance + 1 where id = ${owner.accountId}`);
  book.close();
  const { code, output } = await reconcile('--json');
  t.equal(code, 1);
  t.match(JSON.parse(output).differences[0], {
    account_id: owner.accountId,
    what: 'the stored balance',
    found: '100.000001',
    expected: '100.000000',
    difference: '0.000001',
  });
  t.match(await reconcile(), { code: 1, output: /: difference 0\.000001\n/ });
});

const book = <T>(run: (book: DatabaseSync) => T): T => {
  const open = new DatabaseSync(join(place.dataDir, 'book.sqlite'), { timeout: 5_000 });
  try {
    return run(open);
  } finally {
    open.close();
  }
};

t.test('charges are computed again from their rows, beside a gateway that serves', async (t) => {
  const other = await makeOwner(gateway, 100);
  const ids: string[] = [];
  for (const key of [owner.key, owner.key, other.key]) {
    const response = await gateway.chat(key);
    await response.text();
    ids.push(response.headers.get('x-request-id') ?? '');
  }
  const count = "select count(*) as count from ledger where type = 'charge'";
  await until('the charges to be in the book', () => book((open) => open.prepare(count).get()?.count === 3));
  t.match(await reconcile('--charges'), {
    code: 0,
    output: 'charges checked: 3, differences: 0\n',
    errors: '',
  });

  const [first = '', , third = ''] = ids;
  book((open) => {
    open.exec(`update ledger set credits = credits - 1 where id = '${first}'`);
    open.exec(`update ledger set call = json_set(call, '$.price', json('{}')) where id = '${third}'`);
  });
  const { code, output } = await reconcile('--charges');
  t.equal(code, 1);
  t.match(
    output,
    new RegExp(
      `^charge ${first} of account ${owner.accountId}: (\\S+) credits were charged, but its usage at its prices comes to \\S+: difference 0\\.000001$`,
      'm',
    ),
  );
  t.match(
    output,
    new RegExp(
      `^charge ${third} of account ${other.accountId}: .* lacks a price for part of the usage$`,
      'm',
    ),
  );
  t.match(output, /^charges checked: 3, differences: 2$/m);

  const json = await reconcile('--charges', '--json', '--account', String(owner.accountId));
  t.equal(json.code, 1);
  t.match(JSON.parse(json.output), {
    charges: 2,
    differences: [{ id: first, account_id: owner.accountId, difference: '0.000001' }],
  });
  t.match(await reconcile('--charges', '--to', '2020-01-01'), {
    code: 0,
    output: 'charges checked: 0, differences: 0\n',
  });
  t.match(await reconcile('--charges', '--from', '2020-01-01'), { code: 1, output: /checked: 3,/ });
});

t.test('a span that cannot be is wrong usage, an account that is not there a failure', async (t) => {
  for (const [args, words] of [
    [['--charges', '--from', 'yesterday'], /It must be a UTC day, such as 2026-11-01/],
    [['--charges', '--from', '2026-02-01', '--to', '2026-01-01'], /--from must not be later than --to/],
    [['--from', '2026-02-01'], /--from, --to and --account require --charges/],
  ] as const) {
    t.match(await reconcile(...args), { code: 2, output: '', errors: words });
  }
  t.match(await reconcile('--charges', '--account', '987654'), {
    code: 1,
    errors: 'tollgate: Account 987654 does not exist.\n',
  });
});
