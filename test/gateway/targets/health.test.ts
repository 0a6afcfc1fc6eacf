import { type Test, test } from 'tap';
import type { ProviderListView } from '../../../src/api/operator/providers-view.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-in-process.ts';
import { lastCharge, startTargetsGateway, type TargetsGateway } from '../../helper/start/targets-gateway.ts';

async function started(t: Test) {
  const world = await startTargetsGateway(t);
  const { key, accountId } = await world.account();
  return { ...world, key, accountId };
}

/** The health of `ranked` at a provider, as the operator sees it. */
async function stateOf({ api, slugOf }: TargetsGateway, place: string, model = 'ranked') {
  const response = await api('GET', '/api/admin/providers/', ADMIN_TOKEN);
  const { providers } = (await response.json()) as ProviderListView;
  const provider = providers.find(({ name }) => name === place);
  return provider?.targets.find((target) => target.model === slugOf(model));
}

const BUSY = {
  status: 503,
  headers: { 'retry-after': '50' },
  body: { error: { message: 'busy with secret-of-a' } },
};

/** Sends a call three times, which puts its failing targets out. Returns the last status. */
async function thrice(send: () => Promise<Response>): Promise<number> {
  for (const _ of [1, 2]) await (await send()).text();
  const last = await send();
  await last.text();
  return last.status;
}

test('a target that failed three times in a row is not asked again for its Retry-After, and the operator sees why', async (t) => {
  const world = await started(t);
  world.behave('a', BUSY);
  for (let call = 0; call < 5; call++)
    t.equal((await world.chat(world.key, { model: 'ranked' })).status, 200);
  t.equal(world.asked('a').length, 3);
  t.equal(world.asked('b').length, 5);
  await world.settled();
  const state = await stateOf(world, 'a');
  t.match(state, {
    target: 'a',
    state: 'out',
    cause: 'error',
    last_error: 'HTTP 503: busy with …',
    calls: 0,
  });
  const out = Date.parse(state?.out_until as string) - Date.now();
  t.ok(out <= 50_000, `${out} ms`);
  t.match(await stateOf(world, 'b'), {
    state: 'up',
    cause: null,
    out_until: null,
    last_error: null,
    calls: 5,
  });
  const page = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  const model = world.slugOf('ranked');
  t.match(page, `tollgate_target_out{target="a",model="${model}",cause="error"} 1`);
  t.match(page, `tollgate_target_out{target="b",model="${model}",cause=""} 0`);
  t.match(page, `tollgate_target_failures_total{target="a",model="${model}"} 3`);
});

test("one account's call, whatever status it causes, moves no other account to a dear target", async (t) => {
  for (const status of [403, 408, 429, 500, 501, 520]) {
    const world = await started(t);
    const other = await world.account();
    world.behave('a', { ...BUSY, status });
    await (await world.chat(world.key, { model: 'ranked' })).text();
    world.behave('a');
    t.equal((await world.chat(other.key, { model: 'ranked' })).status, 200);
    t.match(await lastCharge(world, other.accountId), { upstream: 'a' }, `after ${status}`);
  }
});

test('with its time out over, the next call brings a target back', async (t) => {
  const world = await started(t);
  world.behave('a', { ...BUSY, headers: { 'retry-after': '0' } });
  t.equal(await thrice(() => world.chat(world.key, { model: 'ranked' })), 200);
  t.match(await stateOf(world, 'a'), { state: 'out' });
  world.behave('a');
  await (await world.chat(world.key, { model: 'ranked' })).text();
  t.match(await stateOf(world, 'a'), { state: 'up' });
  const last = await lastCharge(world, world.accountId);
  t.match(last, { upstream: 'a', status: 200 });
});

test('with all targets out, the first to come back is tried', async (t) => {
  const world = await started(t);
  const out = (seconds: string) => ({ ...BUSY, headers: { 'retry-after': seconds } });
  world.behave('a', out('50'));
  world.behave('b', out('30'));
  world.behave('c', out('40'));
  t.equal(await thrice(() => world.chat(world.key, { model: 'ranked' })), 503);
  for (const place of ['a', 'b', 'c'] as const) world.behave(place);
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 200);
  t.same(
    ['a', 'b', 'c'].map((place) => world.asked(place as 'a').length),
    [3, 4, 3],
  );
  t.match(await stateOf(world, 'b'), { state: 'up' });
});

test('a call whose last target fails goes to the first to come back', async (t) => {
  const world = await started(t);
  const out = (seconds: string) => ({ ...BUSY, headers: { 'retry-after': seconds } });
  world.behave('a', out('50'));
  world.behave('b', out('30'));
  await thrice(() => world.chat(world.key, { model: 'ranked' }));
  world.behave('a');
  world.behave('b');
  world.behave('c', BUSY);
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 200);
  const entry = await lastCharge(world, world.accountId);
  t.same(
    entry.attempts?.map(({ target }) => target),
    ['c', 'b'],
  );
});

test('a call goes on to a target that went out while another one had it', async (t) => {
  const world = await started(t);
  const gate = Promise.withResolvers<void>();
  world.behave('a', { ...BUSY, waitAfter: { pieces: 'nothing', until: gate.promise } });
  const slow = world.chat(world.key, { model: 'ranked' });
  await world.providers.a.request(0);
  for (const place of ['a', 'b', 'c'] as const) world.behave(place, BUSY);
  t.equal(await thrice(() => world.chat(world.key, { model: 'ranked' })), 503);
  world.behave('b');
  gate.resolve();
  t.equal((await slow).status, 200, 'the one that comes back first');
  t.same(
    ['b', 'c'].map((place) => world.asked(place as 'b').length),
    [4, 3],
  );
});

test('with all targets out, a stream that fails before its content also gives 502', async (t) => {
  const world = await started(t);
  for (const place of ['a', 'b', 'c'] as const) world.behave(place, BUSY);
  await thrice(() => world.chat(world.key, { model: 'ranked' }));
  const body = ['data: {"error":{"message":"no engine"}}\n\n'];
  for (const place of ['a', 'b', 'c'] as const)
    world.behave(place, { headers: { 'content-type': 'text/event-stream' }, body });
  const response = await world.chat(world.key, { model: 'ranked', stream: true });
  t.equal(response.status, 502);
  t.match(await response.json(), { error: { message: 'no engine' } });
});

test('a refused credential is out for a minute', async (t) => {
  const world = await started(t);
  world.behave('a', { status: 401, body: { error: { message: 'no such key' } } });
  await (await world.chat(world.key, { model: 'ranked' })).text();
  const out = Date.parse((await stateOf(world, 'a'))?.out_until as string) - Date.now();
  t.ok(out <= 60_000, `${out} ms`);
  t.match(await stateOf(world, 'a'), { state: 'out', cause: 'credential' });
  const page = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  t.match(page, `tollgate_target_out{target="a",model="${world.slugOf('ranked')}",cause="credential"} 1`);
});

test('a conversation stays at its target, and encrypted reasoning goes to the provider that made it alone', async (t) => {
  const world = await started(t);
  const ask = (cacheKey: string, input: unknown) =>
    world.api('POST', '/v1/responses', world.key, { model: 'even', input, prompt_cache_key: cacheKey });
  for (let turn = 0; turn < 5; turn++) t.equal((await ask('one', 'Hello')).status, 200);
  const home = world.asked('a').length === 5 ? 'a' : 'b';
  t.equal(world.asked(home).length, 5, 'all turns at one target');
  const other = home === 'a' ? 'b' : 'a';
  world.behave(home, { ...BUSY, headers: {} });
  const reasoning = [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' }];
  const refused = await ask('one', reasoning);
  t.equal(refused.status, 503);
  t.same(world.asked(other), [], 'nobody else can read it');
  t.equal((await ask('one', 'Hello')).status, 200, 'without it, the call goes on elsewhere');
  t.equal(world.asked(other).length, 1);
  t.equal((await ask('one', reasoning)).status, 200, 'and what that one makes, it can read');
  t.equal(world.asked(other).length, 2);
});

for (const { stream, length } of [
  { stream: false, length: 100 },
  { stream: true, length: 20_000 },
]) {
  test(`encrypted reasoning of ${length} characters goes to its maker, also once another target is back (stream: ${stream})`, async (t) => {
    const world = await started(t);
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [],
      encrypted_content: 'gAAAAAB/'.repeat(length / 8),
    };
    const response = { id: 'resp_1', object: 'response', status: 'completed', store: false, output: [item] };
    const ended = { ...response, usage: { input_tokens: 5, output_tokens: 5, total_tokens: 10 } };
    const events = [
      { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: ended },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const makes = stream
      ? { headers: { 'content-type': 'text/event-stream' }, body: events }
      : { headers: { 'content-type': 'application/json' }, body: ended };
    const ask = async (input: unknown) => {
      const sent = await world.api('POST', '/v1/responses', world.key, {
        model: 'ranked',
        input,
        stream,
        store: false,
      });
      await sent.text();
      return sent.status;
    };
    world.behave('a', BUSY);
    world.behave('b', makes);
    t.equal(await ask('Hello'), 200);
    world.behave('a');
    t.equal(await ask('Hello'), 200);
    const before = world.asked('a').length;
    t.equal(
      await ask([{ role: 'user', content: 'x'.repeat(9_000) }, item, { role: 'user', content: 'Go on' }]),
      200,
    );
    world.behave('b', BUSY);
    t.equal(await ask([item]), 503, 'and nowhere else');
    t.equal(world.asked('a').length, before);
  });
}

test('a call that names a stored response goes to the target that stored it', async (t) => {
  const world = await started(t);
  const ask = (body: object) =>
    world.api('POST', '/v1/responses', world.key, { model: 'even', input: 'Hello', ...body });
  const first = await ask({ prompt_cache_key: 'one' });
  const { id } = (await first.json()) as { id: string };
  await world.settled();
  const home = world.asked('a').length === 1 ? 'a' : 'b';
  const other = home === 'a' ? 'b' : 'a';
  for (const cacheKey of ['two', 'three', 'four', 'five', 'six', 'seven', 'eight']) {
    t.equal((await ask({ prompt_cache_key: cacheKey, previous_response_id: id })).status, 200);
  }
  t.same([world.asked(home).length, world.asked(other).length], [8, 0]);
  world.behave(home, BUSY);
  t.equal((await ask({ previous_response_id: id })).status, 503, 'and nowhere else');
});

test('explain shows where a call would go', async (t) => {
  const world = await started(t);
  const owner = await world.account({ key: { canManage: true } });
  const explained = async () => {
    const path = `/api/keys/${owner.keyId}/explain/`;
    const response = await world.api('POST', path, owner.key, {
      model: 'ranked',
      endpoint: '/v1/chat/completions',
    });
    return ((await response.json()) as { targets: unknown }).targets;
  };
  const at = (place: string) => ({ target: place, upstream_model: `ranked-${place}` });
  t.same(await explained(), [at('a'), at('b'), at('c')]);
  world.behave('a', BUSY);
  await thrice(() => world.chat(world.key, { model: 'ranked' }));
  t.same(await explained(), [at('b'), at('c')]);
});
