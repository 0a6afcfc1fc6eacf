import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import t from 'tap';
import { startGatewayForCommands, tollgate } from '../helper/command.ts';
import { makeOwner } from '../helper/owner.ts';

const { gateway, place } = await startGatewayForCommands(t);
const owner = await makeOwner(gateway, 100);
const reconcile = (...args: string[]) => tollgate(['reconcile', ...args], place.env);

t.test('sound accounts are proved: exit code 0', async (t) => {
  t.match(await reconcile(), { code: 0, output: 'accounts checked: 1, differences: 0\n', errors: '' });
  const { output } = await reconcile('--json');
  t.same(JSON.parse(output), { accounts: 1, differences: [], live: true });
});

t.test('a difference is told exactly: exit code 1', async (t) => {
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
