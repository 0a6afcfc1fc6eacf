import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Test, test } from 'tap';

const SOURCE = fileURLToPath(new URL('../src', import.meta.url));
const NPM_PACKAGE = { name: 'clone', version: '1.0.0', devDependencies: { tools: 'file:./tools' } };
const LOCK = {
  name: 'clone',
  version: '1.0.0',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': NPM_PACKAGE,
    'node_modules/tools': { resolved: 'tools', link: true },
    tools: { name: 'bundler', version: '1.0.0', dev: true, bin: 'bundler.mjs' },
  },
};
/** Stands for the bundler, which is not what is tested: it "bundles" main.ts and counts its runs. */
const BUNDLER = `
import { appendFileSync, cpSync, mkdirSync } from 'node:fs';
appendFileSync('bundled.log', 'x');
const [, , folder] = process.argv;
mkdirSync(folder, { recursive: true });
cpSync('src/main.ts', folder + '/main.js');
cpSync('src/main.ts', folder + '/cli.js');
`;

/** A clone in which nothing is installed or built, with a bundler that needs no registry and the main program given. */
function clone(t: Test, main: string): string {
  const root = t.testdir({
    'package.json': JSON.stringify({ ...NPM_PACKAGE, type: 'module' }),
    'package-lock.json': JSON.stringify(LOCK),
    tools: {
      'package.json': JSON.stringify({ name: 'bundler', version: '1.0.0', bin: 'bundler.mjs' }),
      'bundler.mjs': '',
    },
    src: {
      'main.ts': main,
      'build.ts': BUNDLER,
      ledger: { lua: { 'admit.lua': '-- admit' } },
      dashboard: { page: { 'page.css': '' } },
    },
  });
  cpSync(join(SOURCE, 'bootstrap.mjs'), join(root, 'src/bootstrap.mjs'));
  cpSync(join(SOURCE, 'bootstrap'), join(root, 'src/bootstrap'), { recursive: true });
  cpSync(join(SOURCE, '../bin'), join(root, 'bin'), { recursive: true });
  return root;
}

function bootstrap(root: string, verb: string, env: NodeJS.ProcessEnv = {}) {
  const args = [join(root, 'src/bootstrap.mjs'), verb];
  return spawn(process.execPath, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function finish(child: ChildProcessByStdio<Writable | null, Readable, Readable>) {
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code, output, errors };
}

const PRINT_DEMO = 'console.log("demo", process.env.TOLLGATE_DEMO)';
const builds = (root: string) => readFileSync(join(root, 'bundled.log'), 'utf8').length;

test('a first start installs, builds and runs the gateway in demo mode', async (t) => {
  const root = clone(t, PRINT_DEMO);
  const { code, output, errors } = await finish(bootstrap(root, 'start'));
  t.equal(code, 0, errors);
  t.equal(output, 'demo true\n');
  t.match(errors, /installing the locked dependencies[\s\S]*building the gateway/);
  t.ok(existsSync(join(root, 'dist/ledger/lua/admit.lua')), 'what is not code is copied');
  t.notOk(existsSync(join(root, 'dist/dashboard/page/page.css')), "the page's sources are not copied");
});

test('a second start installs and builds nothing', async (t) => {
  const root = clone(t, PRINT_DEMO);
  await finish(bootstrap(root, 'start'));
  const { code, errors } = await finish(bootstrap(root, 'start'));
  t.equal(code, 0);
  t.equal(errors, '');
  t.equal(builds(root), 1);
});

test('a changed source is built again, and nothing stale is left in dist', async (t) => {
  const root = clone(t, PRINT_DEMO);
  await finish(bootstrap(root, 'build'));
  rmSync(join(root, 'src/ledger'), { recursive: true });
  writeFileSync(join(root, 'src/main.ts'), 'console.log("changed")');
  const { output } = await finish(bootstrap(root, 'start'));
  t.equal(output, 'changed\n');
  t.notOk(existsSync(join(root, 'dist/ledger')));
});

test('two commands that build at the same time both run what they built', async (t) => {
  const root = clone(t, PRINT_DEMO);
  await finish(bootstrap(root, 'build'));
  writeFileSync(join(root, 'src/main.ts'), 'console.log("changed")');
  const both = await Promise.all([finish(bootstrap(root, 'start')), finish(bootstrap(root, 'start'))]);
  t.same(
    both.map(({ output }) => output),
    ['changed\n', 'changed\n'],
  );
});

test('a changed lock is installed again', async (t) => {
  const root = clone(t, PRINT_DEMO);
  await finish(bootstrap(root, 'build'));
  const tools = { ...LOCK.packages.tools, version: '1.0.1' };
  const lock = { ...LOCK, packages: { ...LOCK.packages, tools } };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify(lock));
  const manifest = JSON.stringify({ name: 'bundler', version: '1.0.1', bin: 'bundler.mjs' });
  writeFileSync(join(root, 'tools/package.json'), manifest);
  const { code, errors } = await finish(bootstrap(root, 'build'));
  t.equal(code, 0, errors);
  t.match(errors, /installing/);
});

test('an install that was broken off is made good', async (t) => {
  const root = clone(t, PRINT_DEMO);
  mkdirSync(join(root, 'node_modules/half-a-package'), { recursive: true });
  const { code, output } = await finish(bootstrap(root, 'start'));
  t.equal(code, 0);
  t.equal(output, 'demo true\n');
});

test('the exit code is that of the gateway', async (t) => {
  const { code } = await finish(bootstrap(clone(t, 'process.exitCode = 3'), 'start'));
  t.equal(code, 3);
});

test('a signal reaches the gateway once, and its end is waited for', async (t) => {
  const main = `
    process.on('SIGTERM', () => { console.log('signal'); setTimeout(() => process.exit(5), 50); });
    setInterval(() => {}, 1e6);
    console.log('up');
  `;
  const child = bootstrap(clone(t, main), 'start');
  const result = finish(child);
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (data) => String(data).includes('up') && resolve());
  });
  child.kill('SIGTERM');
  child.kill('SIGTERM');
  t.match(await result, { code: 5, output: 'up\nsignal\n' });
});

test('without Redis and a way to install it, one line shows the command to type', async (t) => {
  const root = clone(t, PRINT_DEMO);
  const tools = join(root, 'on-the-path');
  mkdirSync(tools);
  symlinkSync(process.execPath, join(tools, 'node'));
  const npm = (process.env.PATH ?? '').split(':').find((folder) => existsSync(join(folder, 'npm'))) ?? '';
  symlinkSync(join(npm, 'npm'), join(tools, 'npm'));
  symlinkSync('/bin/sh', join(tools, 'sh'));
  const { code, output, errors } = await finish(bootstrap(root, 'start', { PATH: tools, REDIS_URL: '' }));
  t.equal(code, 1);
  t.equal(output, '');
  t.match(errors, /^Tollgate needs Redis or Valkey.*REDIS_URL.*$/m);
  t.notMatch(errors, /at .*bootstrap/, 'no stack');

  const elsewhere = await finish(bootstrap(root, 'start', { PATH: tools, REDIS_URL: 'redis://elsewhere' }));
  t.equal(elsewhere.code, 0, elsewhere.errors);
});

test('the command tollgate installs and builds missing parts and passes on arguments, stdin and exit code', async (t) => {
  const main = `
    let input = '';
    for await (const chunk of process.stdin) input += chunk;
    console.log(JSON.stringify([process.argv.slice(2), input, process.env.INIT_CWD]));
    process.exitCode = 2;
  `;
  const root = clone(t, main);
  const command = (file: string) => {
    const child = spawn(process.execPath, [file, 'key', 'list', '--key', '-'], { cwd: join(root, 'bin') });
    child.stdin.end('secret');
    return finish(child);
  };
  const first = await command(join(root, 'bin/tollgate.mjs'));
  t.same(
    [first.code, JSON.parse(first.output)],
    [2, [['key', 'list', '--key', '-'], 'secret', join(root, 'bin')]],
  );
  t.match(first.errors, /installing the locked dependencies[\s\S]*building the gateway/);
  t.equal(
    (await command(join(root, 'node_modules/.bin/tollgate'))).errors,
    '',
    'it is where npx looks first',
  );

  rmSync(join(root, 'src'), { recursive: true });
  const { output } = await command(join(root, 'bin/tollgate.mjs'));
  t.same(JSON.parse(output).slice(0, 2), [['key', 'list', '--key', '-'], 'secret'], 'without sources');
});

test('an unknown verb is refused with those that are known', async (t) => {
  const { code, errors } = await finish(bootstrap(dirname(SOURCE), 'strat'));
  t.equal(code, 1);
  t.match(errors, /"strat" is not known; choose one of start, /);
});

test('a slow step says every few seconds how long it takes already', async (t) => {
  const root = t.testdir({ 'out.txt': '' });
  const out = join(root, 'out.txt');
  // The step ends once two such lines are there, so the speed of the machine does not matter.
  const step = `until [ "$(grep -c 'waiting ([0-9]* s)' ${out})" -ge 2 ]; do sleep 0.1; done`;
  const script = `
    import { during } from ${JSON.stringify(pathToFileURL(join(SOURCE, 'bootstrap', 'shared.mjs')).href)};
    const { status } = await during('waiting', 'sh', ['-c', ${JSON.stringify(step)}], {}, 100);
    process.exitCode = status ?? 1;
  `;
  const stderr = openSync(out, 'a');
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', stderr],
  });
  const [code] = await once(child, 'close');
  t.equal(code, 0, readFileSync(out, 'utf8'));
  t.match(readFileSync(out, 'utf8'), /^tollgate: waiting\ntollgate: waiting \(0 s\)\n/);
});
