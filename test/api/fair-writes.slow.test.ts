import { request as httpRequest } from 'node:http';
import t, { type Test } from 'tap';
import { withFairTurns } from '../../src/api/http/json-routes.ts';
import { makePools, memoryBudget } from '../../src/shares/pools.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess, type TestAccount } from '../helper/start/gateway-in-process.ts';

const world = await startGatewayInProcess(t);
const BODY = JSON.stringify({ name: 'slow' });
/** How many writes of one account may be in flight (specification section 1). */
const PLACES = 16;

/** Begins to create a key, and holds the body back until `end`. */
function begun(t: Test, { key }: TestAccount) {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': BODY.length,
  };
  const request = httpRequest(`${world.url}/api/keys/`, { method: 'POST', headers });
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('error', reject);
  });
  status.catch(() => {});
  request.flushHeaders();
  t.teardown(() => request.destroy());
  return { status, end: () => request.end(BODY), leave: () => request.destroy() };
}

/** The gauge of the pool of writes with this name. */
async function gauge(name: 'places' | 'waiting', pool = 'writes'): Promise<number> {
  const text = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  return Number(new RegExp(`^tollgate_pool_${name}\\{pool="${pool}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
}

t.test("one owner's connections made the writes of all others wait", async (t) => {
  const [crowd, other] = [await world.account(), await world.account()];
  const slow = Array.from({ length: 64 }, () => begun(t, crowd));
  await until('the places to be taken', async () => (await gauge('waiting')) === 64 - PLACES);
  t.equal(await gauge('places'), PLACES);
  t.equal((await apiOf(world, other.key).post('/api/keys/', { name: 'mine' })).status, 201);
  t.equal((await apiOf(world, crowd.key).get('/api/key/')).status, 200, 'reads do not wait');
  for (const { end } of slow) end();
  const statuses = await Promise.all(slow.map(({ status }) => status));
  t.same(new Set(statuses), new Set([201]), 'the others have waited for their turn');
  await until('the places to be free', async () => (await gauge('places')) === 0);
});

t.test('a client that leaves while it waits, or with its body not sent, leaves no place taken', async (t) => {
  const crowd = await world.account();
  const slow = Array.from({ length: PLACES }, () => begun(t, crowd));
  await until('the places to be taken', async () => (await gauge('places')) === PLACES);
  const late = [begun(t, crowd), begun(t, crowd)];
  await until('the others to wait', async () => (await gauge('waiting')) === 2);
  late[0]?.leave();
  for (const { leave } of slow) leave();
  late[1]?.end();
  t.equal(await late[1]?.status, 201);
  await until('the places to be free', async () => (await gauge('places')) === 0);
  t.equal(await gauge('waiting'), 0);
});

t.test('a key that is deactivated while its request waits changes nothing', async (t) => {
  const { accountId, keyId, key } = await world.account();
  const slow = Array.from({ length: PLACES }, () => begun(t, { accountId, keyId, key }));
  await until('the places to be taken', async () => (await gauge('places')) === PLACES);
  const late = apiOf(world, key).post('/api/keys/', { name: 'late' });
  await until('the other to wait', async () => (await gauge('waiting')) === 1);
  const off = await apiOf(world, ADMIN_TOKEN).patch(`/api/admin/accounts/${accountId}/keys/${keyId}/`, {
    is_active: false,
  });
  t.equal(off.status, 200, 'the operator does not wait for them');
  for (const { end } of slow) end();
  t.equal((await late).status, 401);
  t.same(new Set(await Promise.all(slow.map(({ status }) => status))), new Set([401]));
  t.equal((await world.book.keys(accountId)).length, 1);
});

t.test('each account has two writes in the database at a time; other accounts go between', async (t) => {
  const [crowd, other] = [await world.account(), await world.account()];
  let most = 0;
  const looking = setInterval(() => gauge('places', 'book').then((now) => (most = Math.max(most, now))), 20);
  t.teardown(() => clearInterval(looking));
  const owners = [apiOf(world, crowd.key), apiOf(world, other.key)];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      (owners[index % 20 === 0 ? 1 : 0] ?? owners[0])?.patch('/api/account/', { alert_threshold: 1 }),
    ),
  );
  t.ok(answers.every((answer) => answer?.status === 200));
  t.ok(most <= 4, `${most} transactions of two accounts`);
});

t.test("one owner's queries of its calls stood before the queries of all others", async (t) => {
  const [crowd, other] = [await world.account(), await world.account()];
  const pools = makePools(memoryBudget({ processes: 1 }));
  const book = withFairTurns(world.book, pools);
  let done = 0;
  const { accountId } = crowd;
  const queries = Array.from({ length: 30 }, () =>
    book.calls({ accountId, limit: 200 }).then(() => {
      done++;
    }),
  );
  await book.usage(other.accountId, 20_000, 20_030, 'day');
  t.ok(done < 15, `${done} of 30 went first`);
  await Promise.all(queries);
});
