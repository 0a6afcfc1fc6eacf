import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { serversOn } from '../../src/redis-server/leftover.ts';
import { socketPathFor } from '../../src/redis-server/socket.ts';
import { until } from '../helper/check/until.ts';
import { ADMIN_TOKEN, requestsTo } from '../helper/clients/requests.ts';
import { endWithProcess } from '../helper/start/end-with-process.ts';
import { makePlace, type Place } from '../helper/start/gateway-process.ts';

/** util-linux' `script` gives a command a terminal; that of other systems has other options. */
const HAS_SCRIPT = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
const options = HAS_SCRIPT ? {} : { skip: 'no script of util-linux here' };

/** A gateway in its own terminal: the terminal, the id of the gateway's process, and its output. */
async function startInTerminal(t: Test, { env, dataDir }: Place) {
  const pidFile = join(dataDir, '..', 'pid');
  const command = `echo $$ > '${pidFile}'; exec '${process.execPath}' src/main.ts`;
  const terminal: ChildProcess = spawn('script', ['-qfc', command, '/dev/null'], {
    env: { PATH: process.env.PATH, PORT: '0', ...env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  endWithProcess(terminal);
  t.teardown(() => terminal.kill('SIGKILL'));
  let output = '';
  terminal.stdout?.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  await until('the gateway to listen', () => output.includes('"msg":"listening"'));
  return { terminal, pid: Number(readFileSync(pidFile, 'utf8')), output: () => output };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test(
  'a gateway whose terminal is gone stops as at SIGTERM, and leaves no Redis behind',
  options,
  async (t) => {
    const place = makePlace(t, 'http://127.0.0.1:1');
    const { terminal, pid } = await startInTerminal(t, place);
    terminal.kill('SIGKILL');
    await until('the gateway to be gone', () => !isAlive(pid));
    t.same(await serversOn(socketPathFor(join(place.dataDir, 'redis'))), []);
  },
);

test('SIGHUP reloads in a live terminal too', options, async (t) => {
  const { pid, output } = await startInTerminal(t, makePlace(t, 'http://127.0.0.1:1'));
  process.kill(pid, 'SIGHUP');
  await until('the reload to be logged', () => output().includes('configuration reloaded'));
  t.ok(isAlive(pid));
});

test('in a terminal the log is text to read, but for the line that says where', options, async (t) => {
  const { output } = await startInTerminal(t, makePlace(t, 'http://127.0.0.1:1'));
  const lines = output().trim().split('\r\n');
  t.ok(lines.some((line) => line.startsWith('{"msg":"listening","url":"http://')));
  t.equal(lines.filter((line) => line.startsWith('{')).length, 1);
  t.ok(lines.some((line) => /INFO|WARN/.test(line)));
});

test('in a terminal a failed call has lines of one line each', options, async (t) => {
  const { output } = await startInTerminal(t, makePlace(t, 'http://127.0.0.1:1', { ADMIN_TOKEN }));
  const api = requestsTo(/"url":"([^"]+)"/.exec(output())?.[1] ?? '');
  const made = await api.api('POST', '/api/admin/accounts/', ADMIN_TOKEN, {
    email: 'a@example.com',
    credits: 9,
  });
  const { key } = (await made.json()) as { key: { key: string } };
  t.equal((await api.chat(key.key, { model: 'flat' })).status, 502);
  await until('the call to be logged', () => output().includes('call failed'));
  t.match(output(), /target failed.*"error":"[^"]/);
  const [, ...lines] = output().trim().split('\r\n');
  t.same(
    lines.filter((line) => /^ /.test(line)),
    [],
  );
});
