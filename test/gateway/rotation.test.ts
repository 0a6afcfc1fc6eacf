import t, { type Test } from 'tap';
import type { CreatedKeyView, KeyView } from '../../src/api/keys/key-view.ts';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { rotate, statusOf } from '../helper/clients/rotate.ts';
import { type InProcessGateway, startOwnGateway } from '../helper/start/gateway-in-process.ts';
import { createDatabase } from '../helper/start/postgres-database.ts';
import { startRedis } from '../helper/start/redis-process.ts';

/** Two gateways on one Redis and one PostgreSQL, and a key that the owner's key manages. */
async function twoGateways(t: Test) {
  const redis = await startRedis(t);
  const config = { redisUrl: redis.url, databaseUrl: await createDatabase() };
  const one = await startOwnGateway(t, { config });
  const two = await startOwnGateway(t, { config, provider: one.provider });
  return { redis, one, two, both: [one, two] };
}

async function keyOf(world: InProcessGateway, settings: object = {}) {
  const owner = await world.account();
  const api = apiOf(world, owner.key);
  const { body } = await api.post<CreatedKeyView>('/api/keys/', { name: 'handed out', ...settings });
  return { owner, api, id: body.id, value: body.key };
}

const everywhere = (worlds: readonly InProcessGateway[], value: string) =>
  Promise.all(worlds.map((world) => statusOf(world, value)));

/** The statuses of routes without admission, at each gateway. */
async function unadmitted(worlds: readonly InProcessGateway[], value: string): Promise<number[]> {
  const asked = worlds.flatMap((world) =>
    ['/v1/models', '/v1/models/flat', '/api/key/', '/api/keys/', '/v1/videos/video_1'].map(async (path) => {
      const answer = await world.api('GET', path, value);
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
  return await Promise.all(asked);
}

t.test('in grace both values are one key, at every gateway: limit, spend, ledger and settings', async (t) => {
  const { one, two } = await twoGateways(t);
  const { owner, api, id, value } = await keyOf(one, { spending_limit: 4 });
  t.equal(await statusOf(two, value), 200, 'spent before, and cached at the other gateway');
  const { key } = await rotate(one, owner.key, id, 3_600);
  t.same(await statusOf(two, value), 200);
  t.same(await statusOf(two, key), 200);
  t.same(await statusOf(one, value), 200);
  for (const world of [one, two]) {
    t.same([await statusOf(world, key), await statusOf(world, value)], [402, 402], 'one limit');
  }
  await Promise.all([one.settled(), two.settled()]);
  const { body } = await api.get<{ entries: unknown[] }>(`/api/account/ledger/?key_id=${id}`);
  t.equal(body.entries.length, 4);
  const { body: list } = await api.get<{ keys: KeyView[] }>('/api/keys/');
  t.match(
    list.keys.find((key) => key.id === id),
    { spending_current: '4.000000', version: 2 },
  );
  await api.patch(`/api/keys/${id}/`, { spending_limit: null, allowed_models: ['tokens'] });
  t.same([await statusOf(two, value), await statusOf(two, key)], [403, 403], 'one record');
});

t.test(
  'without grace, the previous value is refused in the very next request, at every gateway',
  async (t) => {
    const { one, two, both } = await twoGateways(t);
    const { owner, id, value } = await keyOf(one);
    let newest = value;
    for (let round = 0; round < 20; round++) {
      t.same(await everywhere(both, newest), [200, 200]);
      const { key } = await rotate(round % 2 ? one : two, owner.key, id, 0);
      t.same(await everywhere(both, newest), [401, 401]);
      newest = key;
    }
    t.same(new Set(await unadmitted(both, value)), new Set([401]));
    t.same(await everywhere(both, newest), [200, 200]);
  },
);

t.test('from its end on a value is refused at every gateway, on every route, and not before', async (t) => {
  const { one, both } = await twoGateways(t);
  const { owner, id, value } = await keyOf(one);
  const { key, previous_valid_until } = await rotate(one, owner.key, id, 1);
  // Redis shares this machine's clock.
  const end = Date.parse(previous_valid_until ?? '');
  const wrong: string[] = [];
  let ended = false;
  for (let turn = 0; !ended; turn++) {
    const world = both[turn % 2] as InProcessGateway;
    const sentAt = Date.now();
    const answer = turn % 3 === 2 ? await world.api('GET', '/v1/models', value) : await world.chat(value);
    await answer.arrayBuffer();
    ended = answer.status === 401;
    if (ended && Date.now() < end) wrong.push(`refused ${end - Date.now()} ms before the end`);
    if (!ended && answer.status !== 200) wrong.push(`${answer.status}`);
    if (!ended && sentAt >= end) wrong.push(`let in ${sentAt - end} ms after the end`);
  }
  t.same(wrong, []);
  t.same(new Set(await unadmitted(both, value)), new Set([401]));
  for (let round = 0; round < 10; round++) t.same(await everywhere(both, value), [401, 401]);
  t.same(await everywhere(both, key), [200, 200]);
});

t.test(
  'another rotation ends the oldest value immediately, and the previous one keeps its grace period',
  async (t) => {
    const { one, two, both } = await twoGateways(t);
    const { owner, id, value: first } = await keyOf(one);
    const { key: second } = await rotate(one, owner.key, id, 3_600);
    t.same([await everywhere(both, first), await everywhere(both, second)].flat(), [200, 200, 200, 200]);
    const { key: third } = await rotate(two, owner.key, id, 60);
    t.same(await everywhere(both, first), [401, 401]);
    t.same([await everywhere(both, second), await everywhere(both, third)].flat(), [200, 200, 200, 200]);
    await apiOf(two, owner.key).post(`/api/keys/${id}/rotate/`, { end_grace: true });
    t.same([await everywhere(both, second), await everywhere(both, third)].flat(), [401, 401, 200, 200]);
  },
);

t.test(
  'a value that a rotation ended is refused as replaced, a value that never existed as unknown',
  async (t) => {
    const { one, both } = await twoGateways(t);
    const { owner, id, value: first } = await keyOf(one);
    const messageOf = async (world: InProcessGateway, value: string, path: string) => {
      const asked = path === '/v1/chat/completions' ? world.chat(value) : world.api('GET', path, value);
      const { error } = (await (await asked).json()) as { error: { code: string; message: string } };
      t.equal(error.code, 'invalid_api_key');
      return error.message;
    };
    const replaced = /was rotated .*Use the key's new value\.$/;
    const { key: second } = await rotate(one, owner.key, id, 1);
    t.same(await everywhere(both, first), [200, 200], 'cached');
    for (const world of both) {
      await until('the end of the grace', async () => (await statusOf(world, first)) === 401);
    }
    await rotate(one, owner.key, id, 0);
    for (const world of both) {
      for (const path of ['/v1/chat/completions', '/v1/models', '/api/key/']) {
        for (const value of [first, second]) t.match(await messageOf(world, value, path), replaced, path);
        t.match(await messageOf(world, newKeyValue('sk-tg-').value, path), /does not exist/);
        t.match(await messageOf(world, `${second}x`, path), /does not exist/);
      }
    }
  },
);

t.test('deactivating ends both values, and only the newest returns', async (t) => {
  for (const end of ['DELETE', 'PATCH'] as const) {
    const { one, two, both } = await twoGateways(t);
    const { owner, api, id, value } = await keyOf(one);
    const { key } = await rotate(one, owner.key, id, 3_600);
    t.same([await everywhere(both, value), await everywhere(both, key)].flat(), [200, 200, 200, 200]);
    const off = await one.api(end, `/api/keys/${id}/`, owner.key, { is_active: false });
    t.equal(off.status, 200, end);
    t.same([await everywhere(both, value), await everywhere(both, key)].flat(), [401, 401, 401, 401]);
    await api.patch(`/api/keys/${id}/`, { is_active: true });
    t.same([await everywhere(both, value), await everywhere(both, key)].flat(), [401, 401, 200, 200]);
    t.same(new Set(await unadmitted([two], value)), new Set([401]));
  }
});

t.test('a Redis that is lost in grace takes no value away and brings none back', async (t) => {
  const { redis, one, two, both } = await twoGateways(t);
  const { owner, id, value: first } = await keyOf(one);
  const { key: second } = await rotate(one, owner.key, id, 0);
  const { key: third } = await rotate(one, owner.key, id, 3_600);
  t.same(await everywhere(both, third), [200, 200]);
  await Promise.all([one.settled(), two.settled()]);
  const raw = await redis.connect();
  for (const order of [
    [third, second, first],
    [first, second, third],
  ]) {
    await raw.flushall();
    const wanted = order.map((value) => (value === first ? 401 : 200));
    for (const [turn, value] of order.entries()) t.equal(await statusOf(two, value), wanted[turn]);
    for (const [turn, value] of order.entries()) t.equal(await statusOf(one, value), wanted[turn]);
  }
  await raw.flushall();
  t.equal((await apiOf(one, owner.key).post(`/api/keys/${id}/rotate/`, { end_grace: true })).status, 200);
  await raw.flushall();
  t.same([await everywhere(both, second), await everywhere(both, third)].flat(), [401, 401, 200, 200]);
});

t.test('a value whose gateway died before publishing works at another gateway', async (t) => {
  const { one, two, both } = await twoGateways(t);
  const { owner, id, value } = await keyOf(one);
  t.same(await everywhere(both, value), [200, 200]);
  const { value: next, hash, prefix } = newKeyValue('sk-tg-');
  await one.book.rotateKey(owner.accountId, id, { hash, prefix, previousValidUntil: null }, Date.now());
  t.equal(await statusOf(two, next), 200);
  t.same(await everywhere(both, value), [401, 401]);
});
