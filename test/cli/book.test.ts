import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Test, test } from 'tap';
import { openBook } from '../../src/book/open-book.ts';
import type { Engine } from '../../src/book/schema.ts';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { apiOf } from '../helper/clients/api.ts';
import { balanceOf, makeOwner, type Owner } from '../helper/clients/owner.ts';
import { fillEveryTable } from '../helper/fixtures/every-table.ts';
import { tollgate } from '../helper/start/command.ts';
import { endWithProcess } from '../helper/start/end-with-process.ts';
import {
  makePlace,
  type Place,
  programPath,
  run,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { type ServedPlace, servePlace } from '../helper/start/served-place.ts';

const ENGINES: readonly Engine[] = ['sqlite', 'postgres'];

function makeFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes places of gateways that share a Redis and a provider. */
async function makeWorld(t: Test) {
  const [redis, provider] = await Promise.all([startRedis(t), startDemoProvider()]);
  t.teardown(() => provider.close());
  return async (engine: Engine): Promise<Place> => {
    const database = engine === 'postgres' ? { DATABASE_URL: await createDatabase({ isEmpty: true }) } : {};
    return makePlace(t, provider.url, { REDIS_URL: redis.url, ...database });
  };
}

/** An account with 99 credits after a call, which is in the book. */
async function spender(gateway: ServedPlace): Promise<Owner> {
  const owner = await makeOwner(gateway, 100);
  await (await gateway.chat(owner.key)).text();
  await gateway.ledger.settled();
  return owner;
}

for (const engine of ENGINES) {
  void test(`a backup beside a gateway is restored with a new identity (${engine})`, async (t) => {
    const makePlaceOn = await makeWorld(t);
    const before = await makePlaceOn(engine);
    const file = join(makeFolder(t), 'book.backup');
    const gateway = await servePlace(t, before);
    const owner = await spender(gateway);
    t.match(await tollgate(['backup', file], before.env), { code: 0, errors: '', output: /webhook secrets/ });
    t.equal(statSync(file).mode & 0o777, 0o600);
    const { body } = await apiOf(gateway, owner.key).post<{ key: string }>('/api/keys/', { name: 'later' });
    t.equal((await gateway.chat(body.key)).status, 200);
    const lost = await makeOwner(gateway, 50);
    const after = await makePlaceOn(engine);
    const again = await tollgate(['restore', file], before.env);
    t.match(again, { code: 1, errors: /Stop (that|all) gateway/ });
    await gateway.close();
    t.match(await tollgate(['restore', file], before.env), { code: 1, errors: /has records/ });
    t.match(await tollgate(['backup', file], before.env), { code: 1, errors: /exists\. Name a new file/ });

    t.match(await tollgate(['restore', file], after.env), {
      code: 0,
      output: /^Restored the book of 20.+: 1 accounts, 1 keys, 2 ledger entries, \d+ other records\.\n/,
    });
    const restored = await servePlace(t, after);
    t.same(await balanceOf(restored, owner), { balance: 99, held: 0 });
    t.equal((await restored.chat(owner.key)).status, 200);
    t.equal((await restored.chat(body.key)).status, 401, 'a key of later is unknown');
    const next = await makeOwner(restored, 7);
    t.equal(next.accountId, lost.accountId);
    t.same(await balanceOf(restored, next), { balance: 7, held: 0 });
    t.match(await tollgate(['reconcile'], after.env), { code: 0, output: /differences: 0/ });
    t.match(await tollgate(['reconcile', '--charges'], after.env), { code: 0, output: /differences: 0/ });
  });
}

void test('a SQLite book is copied to PostgreSQL, and goes on there', async (t) => {
  const makePlaceOn = await makeWorld(t);
  const [before, after] = [await makePlaceOn('sqlite'), await makePlaceOn('postgres')];
  const url = after.env.DATABASE_URL ?? '';
  const copy = (input = url) => tollgate(['book', 'copy', '-'], before.env, input);
  t.match(await copy(), { code: 1, errors: /has no book/ });
  const gateway = await servePlace(t, before);
  const owner = await spender(gateway);
  t.match(await copy(), { code: 1, errors: /in use by another gateway/ });
  await gateway.close();
  t.match(await copy(''), { code: 2, errors: /URL of the PostgreSQL database is missing/ });
  t.match(await copy('mysql://x'), { code: 1, errors: /not a PostgreSQL URL/ });
  t.match(await tollgate(['book', 'copy', url], after.env), { code: 1, errors: /DATABASE_URL is set/ });
  const { code, output } = await copy();
  t.equal(code, 0);
  t.match(
    output,
    /^Copied the book: 1 accounts, 1 keys, 2 ledger entries, \d+ other records\. Every table reads/,
  );
  t.notMatch(output, url);
  t.match(await copy(), { code: 1, errors: /has records/ });

  const moved = await servePlace(t, after);
  t.match(await copy(), { code: 1, errors: /A gateway runs on this database/ });
  t.same(await balanceOf(moved, owner), { balance: 99, held: 0 });
  t.equal((await moved.chat(owner.key)).status, 200);
  t.equal((await makeOwner(moved, 7)).accountId, owner.accountId + 1);
  t.match(await tollgate(['reconcile'], after.env), { code: 0, output: /differences: 0/ });
});

void test('a book whose gateway was killed is not copied before its Redis has drained', async (t) => {
  const provider = await startDemoProvider();
  t.teardown(() => provider.close());
  const place = makePlace(t, provider.url);
  const copy = async () => tollgate(['book', 'copy', await createDatabase({ isEmpty: true })], place.env);
  const gateway = await startGatewayProcess(t, place);
  await gateway.kill();
  t.match(await copy(), { code: 1, errors: /was killed or still runs.+Start it once, stop it, then copy/ });
  await (await startGatewayProcess(t, place)).stop();
  t.match(await copy(), { code: 0 });
});

for (const engine of ENGINES) {
  void test(`a restore that is killed leaves an empty book (${engine})`, async (t) => {
    const makePlaceOn = await makeWorld(t);
    const [source, target] = [await makePlaceOn('sqlite'), await makePlaceOn(engine)];
    const book = await openBook({ databaseUrl: undefined, dataDir: source.dataDir });
    await fillEveryTable(book, async (sql) => {
      const db = new DatabaseSync(join(source.dataDir, 'book.sqlite'), { timeout: 5000 });
      try {
        return db.prepare(sql).all();
      } finally {
        db.close();
      }
    });
    await book.close();
    const file = join(makeFolder(t), 'book.backup');
    const { output, code } = await run('cli.js', source.env, ['backup', file]);
    t.equal(code, 0, output);
    const content = readFileSync(file);
    const child = spawn(process.execPath, [programPath('cli.js'), 'restore', '-'], {
      env: { PATH: process.env.PATH, ...target.env },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    endWithProcess(child);
    child.stdin.write(content.subarray(0, content.length / 2));
    for await (const line of child.stderr) if (/writing the book/.test(String(line))) break;
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('close', resolve));
    const at = { databaseUrl: target.env.DATABASE_URL, dataDir: target.dataDir };
    const left = await openBook(at);
    t.same(await left.accounts(0, 1), []);
    await left.close();
    t.match(await tollgate(['restore', file], target.env), { code: 0 });
  });
}

void test('a backup to stdout is the file alone, and a failed one leaves none', async (t) => {
  const makePlaceOn = await makeWorld(t);
  const place = await makePlaceOn('sqlite');
  const folder = makeFolder(t);
  const file = join(folder, 'book.backup');
  t.match(await tollgate(['backup', file], place.env), { code: 1, errors: /has no book/ });
  t.notOk(existsSync(file));
  await (await openBook({ databaseUrl: undefined, dataDir: place.dataDir })).close();
  const child = spawn(
    'sh',
    ['-c', `"$0" "$1" backup - > "$2"`, process.execPath, programPath('cli.js'), file],
    {
      env: { PATH: process.env.PATH, ...place.env },
    },
  );
  await new Promise((resolve) => child.once('close', resolve));
  const target = await makePlaceOn('sqlite');
  t.match(await tollgate(['restore', file], target.env), { code: 0 });
  writeFileSync(join(folder, 'other'), 'not a backup');
  const empty = await makePlaceOn('sqlite');
  t.match(await tollgate(['restore', join(folder, 'other')], empty.env), {
    code: 1,
    errors: /^tollgate: This is no backup of Tollgate.+\n$/,
  });
  if (process.getuid?.() === 0) {
    chownSync(empty.dataDir, 1234, 1234);
    const foreign = await tollgate(['restore', file], empty.env);
    t.match(foreign, { code: 1, errors: /belongs to the user with the id 1234/ });
    chownSync(empty.dataDir, 0, 0);
  }
  t.match(await tollgate(['restore', join(folder, 'none')], empty.env), { code: 1, errors: /no such file/ });
});
