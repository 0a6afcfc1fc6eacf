import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { test } from 'tap';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { endWithProcess } from '../helper/start/end-with-process.ts';
import { programPath, run } from '../helper/start/gateway-process.ts';

// The other tests of commands run them in the test's process.

test('the program ends with the exit code of its command', async (t) => {
  t.match(await run('cli.js', {}, ['accounts']), { code: 2, output: '', errors: /--help/ });
});

test('a reader that has read enough, as head, is no fault', async (t) => {
  const args = ['-c', '"$0" "$1" config schema | head -c 1', process.execPath, programPath('cli.js')];
  const { stdout, stderr } = await promisify(execFile)('sh', args);
  t.same([stdout, stderr], ['{', '']);
});

test('Ctrl-C ends a command that follows the calls', async (t) => {
  const gateway = await startScriptedProvider({ behave: () => ({ body: { calls: [], next: null } }) });
  t.teardown(() => gateway.close());
  const args = ['calls', '--follow', '--url', gateway.url, '--admin-token', 'x'];
  const child = spawn(process.execPath, [programPath('cli.js'), ...args], { stdio: 'ignore' });
  endWithProcess(child);
  const ended = once(child, 'exit');
  await gateway.request(0);
  child.kill('SIGINT');
  t.same(await ended, [null, 'SIGINT']);
});
