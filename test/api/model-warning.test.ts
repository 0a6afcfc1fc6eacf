import t from 'tap';
import type { CreatedKeyView } from '../../src/api/keys/key-view.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

/** Only the dashboard warned of a typing error in `allowed_models`; the key refused every call, days later. */
const world = await startGatewayInProcess(t);
const owner = await world.account();
const WARNING = 'x-tollgate-warning';
const WAYS = [
  { who: 'the owner', api: apiOf(world, owner.key), path: '/api/keys/' },
  {
    who: 'the operator',
    api: apiOf(world, ADMIN_TOKEN),
    path: `/api/admin/accounts/${owner.accountId}/keys/`,
  },
];

for (const { who, api, path } of WAYS) {
  t.test(`${who} is warned of models that are not in the catalog, and the key is made`, async (t) => {
    const create = (allowed_models: readonly string[]) =>
      api.post<CreatedKeyView>(path, { name: 'x', allowed_models });
    const made = await create(['flat', 'nope']);
    t.equal(made.status, 201);
    t.equal(made.headers.get(WARNING), 'allowed_models: "nope" is not in the catalog');
    t.equal((await create(['flat'])).headers.get(WARNING), null);
    t.equal((await create([])).headers.get(WARNING), null);
    const change = (settings: object) => api.patch(`${path}${made.body.id}/`, settings);
    t.equal(
      (await change({ allowed_models: ['a', 'b', 'tokens'] })).headers.get(WARNING),
      'allowed_models: "a", "b" are not in the catalog',
    );
    t.equal((await change({ name: 'y' })).headers.get(WARNING), null, 'only of what the request says');
  });
}

t.test('any name, and any number of them, fits into the header', async (t) => {
  const [{ api, path }] = WAYS as [(typeof WAYS)[number]];
  const many = Array.from({ length: 300 }, (_, index) => `${index}-${'x'.repeat(190)}`);
  const warned = (await api.post(path, { name: 'x', allowed_models: many })).headers.get(WARNING) ?? '';
  t.match(warned, /^allowed_models: "0-x+\\u2026", .* and 295 more are not in the catalog$/);
  t.ok(warned.length < 1_000);
  const odd = ['modèle "größer"', '模型\u{1f600}'];
  const { status, headers } = await api.post(path, { name: 'x', allowed_models: odd });
  t.equal(status, 201);
  t.match(headers.get(WARNING), /^[\x20-\x7e]+$/);
  t.ok(headers.get(WARNING)?.includes('"mod\\u00e8le \\"gr\\u00f6\\u00dfer\\""'));
});

t.test('pages of other origins may read the warning', async (t) => {
  const { headers } = await world.api('GET', '/api/keys/', owner.key, undefined, {
    origin: 'https://a.example',
  });
  t.match(headers.get('access-control-expose-headers'), /x-tollgate-warning/);
});
