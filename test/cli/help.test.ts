import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';
import { tollgate } from '../helper/start/command.ts';

const COMMANDS = [
  '',
  'start',
  'account',
  'account create',
  'account list',
  'account credit',
  'account show',
  'account deactivate',
  'account activate',
  'account email',
  'account threshold',
  'account overdraft',
  'account limits',
  'account ledger',
  'account usage',
  'account alerts',
  'key',
  'key create',
  'key list',
  'key revoke',
  'key edit',
  'key reactivate',
  'key rotate',
  'usage',
  'reconcile',
  'config',
  'config check',
  'config schema',
  'prices',
  'providers',
  'calls',
];

for (const command of COMMANDS) {
  test(`tollgate ${command} --help says how it is used, on stdout`, async (t) => {
    const words = command.split(' ').filter((word) => word !== '');
    const { code, output, errors } = await tollgate([...words, '--help']);
    t.same([code, errors], [0, '']);
    t.match(output, new RegExp(`^Usage: tollgate ${command}`));
  });
}

test('no help shows a secret of the environment', async (t) => {
  const secrets = { ADMIN_TOKEN: 'hunter2', TOLLGATE_KEY: 'hunter3' };
  for (const words of [
    ['account', 'list'],
    ['key', 'list'],
  ]) {
    const { output } = await tollgate([...words, '--help'], secrets);
    t.match(output, /ADMIN_TOKEN/);
    t.notMatch(output, /hunter/);
  }
});

test('without a command, or with an unknown one, the exit code is 2 and stdout stays empty', async (t) => {
  for (const args of [[], ['accounts'], ['--color']]) {
    const { code, output, errors } = await tollgate(args);
    t.same([code, output], [2, '']);
    t.match(errors, /Usage: tollgate|--help/);
  }
});

test('the version is that of the package', async (t) => {
  t.match(await tollgate(['--version']), { code: 0, output: /^\d+\.\d+\.\d+\n$/ });
});

test('a reader that has read enough, as head, is no fault', async (t) => {
  const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
  const args = ['-c', '"$0" "$1" config schema | head -c 1', process.execPath, cli];
  const { stdout, stderr } = await promisify(execFile)('sh', args);
  t.same([stdout, stderr], ['{', '']);
});

test('TOLLGATE_URL is the address of the gateway where --url is not there', async (t) => {
  const { code, errors } = await tollgate(['account', 'list'], {
    ADMIN_TOKEN: 'x',
    TOLLGATE_URL: 'http://127.0.0.1:1',
  });
  t.equal(code, 1);
  t.match(errors, /No gateway is running at http:\/\/127\.0\.0\.1:1\./);
});
