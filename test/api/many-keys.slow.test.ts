import t from 'tap';
import type { KeyView } from '../../src/api/keys/key-view.ts';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/start/gateway-in-process.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';

const world = await startGatewayInProcess(t, {
  config: { accounts: { maxKeys: 100, maxKeyBytes: 200_000, overdraft: micro(0), ...NO_CALL_LIMITS } },
});

interface List {
  readonly keys: KeyView[];
  readonly next?: string | null;
}

t.test('concurrent creation never passes the limit of keys of an account: one more gets 409', async (t) => {
  const { key, accountId } = await world.account();
  const [owner, operator] = [apiOf(world, key), apiOf(world, ADMIN_TOKEN)];
  const body = { name: 'one of many', is_active: false };
  const answers = await Promise.all(
    Array.from({ length: 120 }, (_, turn) =>
      turn % 2
        ? owner.post('/api/keys/', body)
        : operator.post(`/api/admin/accounts/${accountId}/keys/`, body),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 99);
  const refused = answers.filter(({ status }) => status !== 201);
  t.ok(refused.every(({ status, error }) => status === 409 && error?.code === 'too_many_keys'));
  t.equal((await owner.get<List>('/api/keys/')).body.keys.length, 100);
});

t.test('keys with full lists are listed whole, and in pages, by owner and operator', async (t) => {
  const { key, accountId } = await world.account();
  const allowedOrigins = Array.from(
    { length: 1_000 },
    (_, index) => `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}${index}.com`,
  );
  for (let made = 1; made < 40; made++) {
    const settings = { ...OPEN_KEY, allowedOrigins, prefix: 'sk-tg-x', hash: `full-${made}` };
    await world.book.createKey(accountId, settings, Date.now());
  }
  t.ok((await world.book.keys(accountId)).length < 10, 'a page of the book is bounded by bytes');
  for (const [token, path] of [
    [key, '/api/keys/'],
    [ADMIN_TOKEN, `/api/admin/accounts/${accountId}/keys/`],
  ] as const) {
    const api = apiOf(world, token);
    const { body: whole } = await api.get<List>(path);
    const ids = whole.keys.map(({ id }) => id);
    t.equal(new Set(ids).size, 40);
    t.same(whole.keys.at(-1)?.allowed_origins, allowedOrigins);
    t.notOk('next' in whole, 'next stands only where a limit was sent');
    const paged: number[] = [];
    let next: string | null | undefined = '';
    for (let page = 0; next !== null; page++) {
      const { body }: { body: List } = await api.get<List>(`${path}?limit=20${next ? `&after=${next}` : ''}`);
      paged.push(...body.keys.map(({ id }) => id));
      next = body.next;
      t.ok(page < 3);
    }
    t.same(paged, ids);
    t.same((await api.get<List>(`${path}?limit=1&after=${ids.at(-1)}`)).body, { keys: [], next: null });
    t.equal((await api.get(`${path}?limit=1001`)).error?.code, 'invalid_field');
    t.equal((await api.get(`${path}?after=x`)).error?.code, 'invalid_field');
  }
});

/** A list of names that takes `bytes` as JSON. */
const names = (bytes: number) =>
  Array.from({ length: bytes / 100 }, (_, index) => `${index}`.padEnd(97, 'm'));

t.test('keys were unbounded storage: names end at 200 emoji, lists at a thousand names', async (t) => {
  const { key, keyId } = await world.account();
  const owner = apiOf(world, key);
  const full = Array.from({ length: 1_000 }, (_, index) => `${index}`.padEnd(200, '🔑').slice(0, 200));
  for (const [field, body] of [
    ['allowed_models', { allowed_models: full }],
    ['allowed_origins', { allowed_models: names(30_000), allowed_origins: names(40_000) }],
  ] as const) {
    const refused = await owner.post('/api/keys/', { name: 'full', ...body });
    t.match([refused.status, refused.error?.code, refused.error?.param], [400, 'invalid_field', field]);
    const changed = await owner.patch(`/api/keys/${keyId}/`, body);
    t.match([changed.status, changed.error?.code, changed.error?.param], [400, 'invalid_field', field]);
  }
  t.equal((await owner.patch(`/api/keys/${keyId}/`, { allowed_models: names(40_000) })).status, 200);
  const beyond = await owner.patch(`/api/keys/${keyId}/`, { allowed_origins: names(40_000) });
  t.match([beyond.status, beyond.error?.param], [400, 'allowed_origins'], 'together with what it has');
  t.equal((await owner.get<List>('/api/keys/')).body.keys.length, 1);
});

t.test('the keys of an account have at most so many bytes together, whoever makes them', async (t) => {
  const { key, keyId, accountId } = await world.account();
  const [owner, operator] = [apiOf(world, key), apiOf(world, ADMIN_TOKEN)];
  const body = { name: 'large', allowed_models: names(40_000) };
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      turn % 2
        ? owner.post('/api/keys/', body)
        : operator.post(`/api/admin/accounts/${accountId}/keys/`, body),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 201).length, 4);
  for (const { status, error } of answers.filter((answer) => answer.status !== 201)) {
    t.match([status, error?.code], [409, 'too_many_keys']);
    t.match(error?.message, /200000 bytes/);
  }
  const grown = await owner.patch(`/api/keys/${keyId}/`, { allowed_origins: names(40_000) });
  t.match([grown.status, grown.error?.code], [409, 'too_many_keys']);
  const restricted = { spending_limit: 1, is_active: true, active_hours: '08:00-18:00' };
  t.equal((await operator.patch(`/api/admin/accounts/${accountId}/keys/${keyId}/`, restricted)).status, 200);
});

t.test('a body of thousands of names held the process up, each name being folded', async (t) => {
  const { key } = await world.account();
  const body = Object.fromEntries(
    Array.from({ length: 9_900 }, (_, index) => [`${'ſ'.repeat(40)}${index}`, 0]),
  );
  const { status, error } = await apiOf(world, key).post('/api/keys/', body);
  t.match([status, error?.code], [400, 'invalid_field']);
  t.match(error?.param, /^ſ{40}0$/);
});
