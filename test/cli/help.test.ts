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
  'account erase',
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
  'person',
  'person create',
  'person list',
  'person reset',
  'person deactivate',
  'person erase',
  'usage',
  'reconcile',
  'backup',
  'restore',
  'book',
  'book copy',
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

test('TOLLGATE_URL is the address of the gateway where --url is not there', async (t) => {
  const list = (TOLLGATE_URL: string) =>
    tollgate(['account', 'list'], { ADMIN_TOKEN: 'x', TOLLGATE_URL, PORT: '2' });
  t.match(await list('http://127.0.0.1:1'), {
    code: 1,
    errors: /No gateway answers at http:\/\/127\.0\.0\.1:1: /,
  });
  t.match(await list('127.0.0.1:1'), {
    code: 2,
    output: '',
    errors: /^tollgate: TOLLGATE_URL is invalid\. .*\n$/,
  });
  t.match(await list(''), { code: 1, errors: /No gateway answers at http:\/\/127\.0\.0\.1:2: / });
});
