import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { endWithProcess } from '../helper/start/end-with-process.ts';
import { makePlace, run } from '../helper/start/gateway-process.ts';

test('tollgate start runs the gateway with the settings of its options until a signal', async (t) => {
  const { env } = makePlace(t, 'http://127.0.0.1:1');
  const data = join(env.TOLLGATE_DATA ?? '', 'named');
  const args = ['start', '--config', env.TOLLGATE_CONFIG ?? '', '--data', data, '--port', '0', '--demo'];
  const child = spawn(process.execPath, ['src/cli.ts', ...args], {
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  endWithProcess(child);
  const ended = once(child, 'exit');
  let output = '';
  const url = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      const listening = /"msg":"listening","url":"([^"]+)"/.exec(output)?.[1];
      if (listening) resolve(listening);
    });
  });
  t.equal((await fetch(`${url}/healthz`)).status, 200);
  t.match(output, /Demo key {3}sk-tg-/);
  t.equal(/Dashboard {2}(\S+)/.exec(output)?.[1], `${url}/dashboard/`);
  t.match(output, /^Models: flat, tokens\.$/m);
  t.ok(existsSync(join(data, 'book.sqlite')));
  child.kill('SIGTERM');
  t.same(await ended, [0, null]);
});

test('an invalid setting gets one line and exit code 1', async (t) => {
  const { env } = makePlace(t, 'http://127.0.0.1:1');
  const { code, errors } = await run('cli.js', env, ['start', '--port', 'eighty']);
  t.equal(code, 1);
  t.match(errors, /^tollgate: [^\n]*PORT: must be[^\n]*\n$/);
});
