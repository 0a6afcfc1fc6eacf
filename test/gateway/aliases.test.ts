import { type Test, test } from 'tap';
import { until } from '../helper/check/until.ts';
import { startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, startGatewayInProcess, testCatalog } from '../helper/start/gateway-in-process.ts';

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  tokens: ['tokens-2026-11-01', 'vendor/tokens'],
  renamed: ['upstream-name', 'renamed-2026-11-01'],
};

async function start(t: Test) {
  const provider = await startScriptedProvider({ record: true });
  t.teardown(() => provider.close());
  const catalog = new Map(
    [...testCatalog(provider.url)].map(([slug, model]) => {
      const aliases = ALIASES[slug];
      return [slug, aliases ? { ...model, aliases } : model];
    }),
  );
  return await startGatewayInProcess(t, { provider, config: { catalog } });
}

test('a call by an alias is a call of the model: upstream name, ledger, price', async (t) => {
  const world = await start(t);
  const { key } = await world.account();
  const call = { max_tokens: 10 };
  const answers = [];
  for (const model of [
    'tokens',
    'tokens-2026-11-01',
    'vendor/tokens',
    'upstream-name',
    'renamed-2026-11-01',
  ]) {
    const answer = await world.chat(key, { ...call, model });
    t.equal(answer.status, 200, model);
    answers.push(((await answer.json()) as { model: string }).model);
  }
  const sent = world.provider.requests.map(({ body }) => JSON.parse(body.toString()).model);
  t.same(sent, ['tokens', 'tokens', 'tokens', 'upstream-name', 'upstream-name']);
  t.same(answers, sent, 'the answer has the name of the provider');
  await world.settled();
  const { entries } = (await (await world.api('GET', '/api/account/ledger/', key)).json()) as {
    entries: { type: string; model: string; credits: string }[];
  };
  const rows = entries.filter(({ type }) => type === 'charge').reverse();
  t.same(
    rows.map(({ model }) => model),
    ['tokens', 'tokens', 'tokens', 'renamed', 'renamed'],
  );
  t.equal(rows[1]?.credits, rows[0]?.credits);
  t.equal((await world.chat(key, { model: 'tokens-2026' })).status, 404);
});

test('allowed_models takes an alias and keeps the slug, of owner and operator', async (t) => {
  const world = await start(t);
  const owner = await world.account();
  const named = { name: 'x', allowed_models: ['vendor/tokens', 'tokens', 'renamed-2026-11-01', 'nope'] };
  const kept = ['tokens', 'renamed', 'nope'];
  for (const [path, token] of [
    ['/api/keys/', owner.key],
    [`/api/admin/accounts/${owner.accountId}/keys/`, ADMIN_TOKEN],
  ] as const) {
    const made = await world.api('POST', path, token, named);
    t.equal(made.headers.get('x-tollgate-warning'), 'allowed_models: "nope" is not in the catalog');
    const { id, key } = (await made.json()) as { id: number; key: string };
    const own = (await (await world.api('GET', '/api/key/', key)).json()) as { allowed_models: string[] };
    t.same(own.allowed_models, kept);
    t.equal((await world.chat(key, { model: 'tokens-2026-11-01', max_tokens: 1 })).status, 200);
    t.equal((await world.chat(key, { model: 'flat' })).status, 403);
    const change = { allowed_models: ['upstream-name'] };
    const changed = await world.api('PATCH', `${path}${id}/`, token, change);
    t.match(await changed.json(), { allowed_models: ['renamed'] });
    t.equal((await world.chat(key, { model: 'tokens-2026-11-01', max_tokens: 1 })).status, 403);
    t.equal((await world.chat(key, { model: 'renamed-2026-11-01' })).status, 200);
  }
});

test('lists show slugs, and a model is found by its aliases', async (t) => {
  const world = await start(t);
  const { key, keyId } = await world.account();
  const { data } = (await (await world.api('GET', '/v1/models', key)).json()) as { data: { id: string }[] };
  t.same(
    data.map(({ id }) => id).filter((id) => Object.values(ALIASES).flat().includes(id)),
    [],
  );
  for (const name of ['tokens', 'tokens-2026-11-01', 'vendor/tokens', 'vendor%2Ftokens']) {
    t.match(await (await world.api('GET', `/v1/models/${name}`, key)).json(), { id: 'tokens' }, name);
  }
  const explained = await world.api('POST', `/api/keys/${keyId}/explain/`, key, { model: 'vendor/tokens' });
  t.match(await explained.json(), { allowed: true });
});

test('calls by an alias are recorded and found as calls of the model, refused ones too', async (t) => {
  const world = await start(t);
  const { key } = await world.account({ credits: 0 });
  t.equal((await world.chat(key, { model: 'tokens-2026-11-01', max_tokens: 10 })).status, 402);
  for (const name of ['tokens-2026-11-01', 'tokens']) {
    const [call] = await until('its record', async () => {
      const answer = await world.api('GET', `/api/account/calls/?result=refused&model=${name}`, key);
      const { calls } = (await answer.json()) as { calls: object[] };
      return calls.length > 0 && calls;
    });
    t.match(call, { model: 'tokens', category: 'text', code: 'insufficient_credits' });
  }
});
