import { type Test, test } from 'tap';
import type { ProviderListView } from '../../../src/api/operator/providers-view.ts';
import { until } from '../../helper/check/until.ts';
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
  headers: { 'retry-after': '3600' },
  body: { error: { message: 'busy with secret-of-a' } },
};

test('a target that failed is not asked again for its Retry-After, and the operator sees why', async (t) => {
  const world = await started(t);
  world.behave('a', BUSY);
  for (let call = 0; call < 3; call++)
    t.equal((await world.chat(world.key, { model: 'ranked' })).status, 200);
  t.same(world.asked('a'), ['ranked-a']);
  t.equal(world.asked('b').length, 3);
  const state = await stateOf(world, 'a');
  t.match(state, { target: 'a', state: 'out', last_error: 'HTTP 503: busy with …', calls: 1 });
  const out = Date.parse(state?.out_until as string) - Date.now();
  t.ok(out > 3_000_000 && out <= 3_600_000, `${out} ms`);
  t.match(await stateOf(world, 'b'), { state: 'up', out_until: null, last_error: null, calls: 3 });
  const page = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  t.match(page, `tollgate_target_out{target="a",model="${world.slugOf('ranked')}"} 1`);
  t.match(page, `tollgate_target_failures_total{target="a",model="${world.slugOf('ranked')}"} 1`);
});

test('a single trial call brings a target back', async (t) => {
  const world = await started(t);
  world.behave('a', { ...BUSY, headers: { 'retry-after': '0' } });
  await (await world.chat(world.key, { model: 'ranked' })).text();
  world.behave('a');
  await until('the target is back', async () => {
    await (await world.chat(world.key, { model: 'ranked' })).text();
    return (await stateOf(world, 'a'))?.state === 'up';
  });
  await (await world.chat(world.key, { model: 'ranked' })).text();
  const last = await lastCharge(world, world.accountId);
  t.match(last, { upstream: 'a', status: 200 });
});

test('with all targets out, the first to come back is tried', async (t) => {
  const world = await started(t);
  const out = (seconds: string) => ({ ...BUSY, headers: { 'retry-after': seconds } });
  world.behave('a', out('3000'));
  world.behave('b', out('1000'));
  world.behave('c', out('2000'));
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 503);
  for (const place of ['a', 'b', 'c'] as const) world.behave(place);
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 200);
  t.same(
    ['a', 'b', 'c'].map((place) => world.asked(place as 'a').length),
    [1, 2, 1],
  );
  t.match(await stateOf(world, 'b'), { state: 'up' });
});

test('a call whose last target fails goes to the first to come back', async (t) => {
  const world = await started(t);
  const out = (seconds: string) => ({ ...BUSY, headers: { 'retry-after': seconds } });
  world.behave('a', out('3000'));
  world.behave('b', out('1000'));
  await (await world.chat(world.key, { model: 'ranked' })).text();
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
  t.equal((await world.chat(world.key, { model: 'ranked' })).status, 503);
  world.behave('b');
  gate.resolve();
  t.equal((await slow).status, 200, 'the one that comes back first');
  t.same(
    ['b', 'c'].map((place) => world.asked(place as 'b').length),
    [2, 1],
  );
});

test('with all targets out, a stream that fails before its content also gives 502', async (t) => {
  const world = await started(t);
  for (const place of ['a', 'b', 'c'] as const) world.behave(place, BUSY);
  await (await world.chat(world.key, { model: 'ranked' })).text();
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
  t.ok(out > 30_000 && out <= 60_000, `${out} ms`);
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
    world.behave('a', { ...BUSY, headers: { 'retry-after': '0' } });
    world.behave('b', makes);
    t.equal(await ask('Hello'), 200);
    world.behave('a');
    await until('the first target is back', async () => {
      await ask('Hello');
      return (await stateOf(world, 'a'))?.state === 'up';
    });
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
  await (await world.chat(world.key, { model: 'ranked' })).text();
  t.same(await explained(), [at('b'), at('c')]);
});
