import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { tollgate } from '../helper/command.ts';
import { ADMIN_TOKEN, makePlace, startGatewayProcess } from '../helper/gateway-process.ts';
import { until } from '../helper/until.ts';

/**
 * A data folder that release 0.1.0 made with its demo: calls of every modality, two accounts, a top-up and
 * an adjustment, a crossed threshold. Gateway and Redis were killed under load: two entries are in the journal only, and
 * five calls have their holds still.
 */
const FOLDER = fileURLToPath(new URL('../fixtures/data-of-0.1.0.tar.gz', import.meta.url));
/** Keys of that folder: of account 2, of account 1 with limits, and of account 1 deactivated. They are known nowhere else. */
const SECOND = 'sk-tg-yijIUTuSfWluPvsdovaddS4CTJGjG7Mp0g5qlt';
const LIMITED = 'sk-tg-eflnW4hnXZNI0CddhkRcIPebaomCg6s61HFgGM';
const DELETED = 'sk-tg-Qrw5wPLiuuhCZeQM80HPWaU69djR8K390yQutX';

interface Account {
  readonly credits_balance: number;
  readonly credits_held: number;
}
interface Entry {
  readonly type: string;
  readonly credits: string;
  readonly balance_after: string;
}

test('a data folder that release 0.1.0 left when it was killed is taken over, with every credit', async (t) => {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  mkdirSync(place.dataDir, { recursive: true });
  const unpacked = spawnSync('tar', ['-xzf', FOLDER, '-C', place.dataDir]);
  t.equal(unpacked.status, 0, String(unpacked.stderr));
  const first = readFileSync(join(place.dataDir, 'demo-key'), 'utf8').trim();
  const gateway = await startGatewayProcess(t, place);
  const read = async <Answer>(path: string, key: string) =>
    (await (await gateway.api('GET', path, key)).json()) as Answer;
  const entriesOf = async (key: string) =>
    (await read<{ entries: Entry[] }>('/api/account/ledger/?limit=1000', key)).entries;

  // Holds last half an hour after their calls, of which 0.1.0 made the last on 2026-11-22.
  for (const key of [first, SECOND]) {
    await until(
      'the holds to expire',
      async () => (await read<Account>('/api/account/', key)).credits_held === 0,
    );
  }
  t.same(
    Object.entries(Object.groupBy(await entriesOf(first), ({ type }) => type)).map(([type, of]) => [
      type,
      of?.length,
    ]),
    [
      ['expired_hold', 4],
      ['charge', 12],
      ['adjustment', 1],
      ['top_up', 2],
    ],
  );
  t.equal((await read<Account>('/api/account/', first)).credits_balance, 1009.979426);
  t.equal((await entriesOf(first))[0]?.balance_after, '1009.979426');
  t.equal((await read<Account>('/api/account/', SECOND)).credits_balance, 4.979916);
  const { alerts } = await read<{ alerts: { credits_balance: number }[] }>('/api/account/alerts/', SECOND);
  t.match(alerts, [{ credits_balance: 4.989958 }]);
  t.equal(alerts.length, 1);

  t.equal((await gateway.served(first)).status, 200);
  t.equal((await gateway.served(LIMITED)).status, 403, 'the key is limited to demo-chat');
  t.equal((await gateway.served(DELETED)).status, 401);
  await until('the call to be in the ledger', async () => (await entriesOf(first)).length === 20);
  t.equal((await entriesOf(first))[0]?.balance_after, '1008.979426');

  await gateway.stop();
  const { code, output, errors } = await tollgate(['reconcile'], { ...place.env, ADMIN_TOKEN });
  t.equal(code, 0, errors);
  t.match(output, /accounts checked: 2, differences: 0/);
});
