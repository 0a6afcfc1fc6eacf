import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Redis } from 'ioredis';
import { type Test, test } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import type { LeftData } from '../fixtures/releases/left-data.ts';
import { apiOf } from '../helper/clients/api.ts';
import { tollgate } from '../helper/start/command.ts';
import { makePlace } from '../helper/start/gateway-process.ts';
import { createDatabase, execute } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';
import { servePlace } from '../helper/start/served-place.ts';

const RELEASES = join(import.meta.dirname, '../fixtures/releases');
const EXPIRED_MS = 86_400_000;

for (const { name } of readdirSync(RELEASES, { withFileTypes: true }).filter((each) => each.isDirectory())) {
  for (const engine of ['sqlite', 'postgres']) {
    void test(`the data of ${name} is served: ${engine}`, (t) =>
      serves(t, join(RELEASES, name, engine), engine));
  }
}

async function serves(t: Test, path: string, engine: string): Promise<void> {
  const [facts = '', ...commands] = readFileSync(`${path}.jsonl`, 'utf8').trim().split('\n');
  const left = JSON.parse(facts) as LeftData;
  const book = gunzipSync(readFileSync(`${path}.book.gz`));
  const [redis, provider] = await Promise.all([startRedis(t), startDemoProvider()]);
  t.teardown(() => provider.close());
  const raw = new Redis(redis.url);
  t.teardown(() => raw.disconnect());
  for (const line of commands) {
    const [command = '', ...args] = JSON.parse(line) as string[];
    await raw.call(command, ...args);
  }
  const env: Record<string, string> = { REDIS_URL: redis.url };
  if (engine === 'postgres') {
    env.DATABASE_URL = await createDatabase({ isEmpty: true });
    await execute(env.DATABASE_URL, book.toString());
  }
  const place = makePlace(t, provider.url, env);
  if (engine === 'sqlite') {
    mkdirSync(place.dataDir, { recursive: true });
    writeFileSync(join(place.dataDir, 'book.sqlite'), book);
  }

  const gateway = await servePlace(t, place);
  const keys = Object.entries(left.keys);
  const owner = apiOf(gateway, left.keys.open?.value ?? '');
  let charged = 0;
  const callWithEach = async () => {
    for (const [key, { value, code }] of keys) {
      const answer = await gateway.chat(value);
      const body = (await answer.json()) as { error?: { code: string } };
      t.equal(body.error?.code ?? null, code, key);
      if (answer.status === 200) charged++;
    }
    await gateway.ledger.settled();
  };
  await callWithEach();
  await gateway.ledger.sweep.expireHolds(Date.now() + EXPIRED_MS);
  await gateway.ledger.settled();
  t.equal(charged, keys.filter(([, { code }]) => code === null).length);
  const account = () => owner.get<object>('/api/account/');
  t.match((await account()).body, { credits_balance: left.balance - charged, credits_held: 0 });
  for (const list of ['ledger', 'calls', 'usage', 'alerts']) {
    t.equal((await owner.get(`/api/account/${list}/`)).status, 200, list);
  }
  const { body } = await owner.get<{ keys: { name: string }[] }>('/api/keys/');
  t.equal(body.keys.length, keys.length - 1, 'one was rotated');

  await raw.flushall();
  await callWithEach();
  t.match((await account()).body, { credits_balance: left.balance - charged, credits_held: 0 });
  t.match(await tollgate(['reconcile'], place.env), { code: 0 });
}
