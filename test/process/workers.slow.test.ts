import { readFileSync } from 'node:fs';
import { type Test, t } from 'tap';
import { startDemoProvider } from '../../src/demo/demo-provider.ts';
import { until } from '../helper/check/until.ts';
import { makeOwner } from '../helper/clients/owner.ts';
import {
  ADMIN_TOKEN,
  type GatewayProcess,
  makePlace,
  run,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

const WORKERS = 2;
const CALL = { model: 'flat', messages: [{ role: 'user', content: 'Hello' }] };

async function startWorkers(t: Test, env: NodeJS.ProcessEnv = {}): Promise<GatewayProcess> {
  const [DATABASE_URL, provider] = await Promise.all([createDatabase(), startDemoProvider()]);
  t.teardown(() => provider.close());
  return await startGatewayProcess(
    t,
    makePlace(t, provider.url, { DATABASE_URL, WORKERS: String(WORKERS), ...env }),
  );
}

/** The processes that the gateway started, except its Redis. */
function workersOf({ pid }: GatewayProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .map(Number)
    .filter((child) => child > 0 && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js'));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const gateway = await startWorkers(t);

t.test('workers share a port, a Redis and a book, and their metrics are summed', async (t) => {
  t.equal(workersOf(gateway).length, WORKERS);
  const owner = await makeOwner(gateway, 100);
  // Each on its own connection, so that the workers get them in turn.
  const call = () => gateway.api('POST', '/v1/chat/completions', owner.key, CALL, { connection: 'close' });
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await call()).status));
  t.same(new Set(statuses), new Set([200]));
  const read = async () => {
    const text = await (await gateway.api('GET', '/metrics', ADMIN_TOKEN)).text();
    return /^tollgate_requests_total\{[^}]*code="ok"[^}]*\} (\d+)$/m.exec(text)?.[1];
  };
  await until('every call to be counted', async () => (await read()) === '20');
  t.equal(await read(), '20', 'whichever worker is asked');
});

t.test('a worker that is killed is replaced, and no call after that fails', async (t) => {
  const owner = await makeOwner(gateway, 100);
  const [killed] = workersOf(gateway);
  // 0 would be the process group of the tests.
  if (killed === undefined) return t.fail('no worker');
  process.kill(killed, 'SIGKILL');
  await until('the worker to be replaced', () => {
    const workers = workersOf(gateway);
    return !workers.includes(killed) && workers.length === WORKERS;
  });
  const statuses = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const response = await gateway.chat(owner.key);
      return response.status;
    }),
  );
  t.same(statuses, Array(10).fill(200));
});

t.test('a stop ends every worker, each in order', async (t) => {
  const workers = workersOf(gateway);
  const { code, errors } = await gateway.stop();
  t.equal(code, 0, errors);
  t.notOk(workers.some(isAlive));
});

t.test('a value that no worker has is NaN, not 0', async (t) => {
  const redis = await startRedis(t);
  const gateway = await startWorkers(t, { REDIS_URL: redis.url });
  await redis.kill();
  // A worker's finding about Redis is shared for a second.
  const text = await until('every worker to find Redis gone', async () => {
    const page = await (await gateway.api('GET', '/metrics', ADMIN_TOKEN)).text();
    return /^tollgate_redis_up 0$/m.test(page) && /^tollgate_redis_durable nan$/im.test(page) && page;
  });
  for (const name of ['journal_backlog', 'journal_lag_seconds', 'redis_durable']) {
    t.match(text, new RegExp(`^tollgate_${name} nan$`, 'im'));
  }
});

t.test('a setting that a worker cannot honor stops startup with one line', async (t) => {
  const { env } = makePlace(t, 'http://127.0.0.1:1', {
    DATABASE_URL: 'postgres://user:secret@127.0.0.1:1/book',
    WORKERS: '2',
  });
  const { code, output, errors } = await run('main.js', env);
  t.equal(code, 1);
  t.match(errors, /^tollgate: [^\n]*can't be reached[^\n]*\n$/);
  t.notMatch(output, 'listening');
});

t.test('several workers need a book that several processes can share', async (t) => {
  const { env } = makePlace(t, 'http://127.0.0.1:1', { WORKERS: '2' });
  const { code, errors } = await run('main.js', env);
  t.equal(code, 1);
  t.match(errors, /WORKERS.*DATABASE_URL/);
});

t.test('auto is one process where the book is SQLite', async (t) => {
  const gateway = await startGatewayProcess(t, makePlace(t, 'http://127.0.0.1:1', { WORKERS: 'auto' }));
  t.same(workersOf(gateway), []);
});
