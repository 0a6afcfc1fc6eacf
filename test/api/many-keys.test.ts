import t from 'tap';
import type { KeyView } from '../../src/api/views/key-view.ts';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import { apiOf } from '../helper/api.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from '../helper/gateway-in-process.ts';
import { OPEN_KEY } from '../helper/open-key.ts';

const world = await startGatewayInProcess(t, {
  config: { accounts: { maxKeys: 100, overdraft: micro(0), ...NO_CALL_LIMITS } },
});

interface List {
  readonly keys: KeyView[];
  readonly next?: string | null;
}

t.test(
  'the key beyond the last that an account may have is 409, however many are asked for at once',
  async (t) => {
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
  },
);

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
