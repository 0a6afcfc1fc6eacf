import { type Test, test } from 'tap';
import type { ProviderListView } from '../../../src/api/operator/providers-view.ts';
import type { Model } from '../../../src/domain/catalog.ts';
import { type Behavior, startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import {
  ADMIN_TOKEN,
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  testCatalog,
} from '../../helper/start/gateway-in-process.ts';
import { startTargetsGateway } from '../../helper/start/targets-gateway.ts';

const EVENTS =
  'data: {"choices":[{"index":0,"text":"Hello","delta":{"content":"Hello"},"finish_reason":"stop"}]}\n\n' +
  'data: [DONE]\n\n';
const STREAM: Behavior = { headers: { 'content-type': 'text/event-stream' }, body: EVENTS };
const REFUSAL: Behavior = {
  status: 422,
  body: { detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
};
const CALL = { model: 'tokens', stream: true, messages: [{ role: 'user', content: 'Hi' }] };

/** A gateway whose provider refuses `stream_options`, unless `behave` has another answer. */
async function startPicky(t: Test, behave: (body: string) => Behavior | undefined = () => undefined) {
  const world = await startGatewayInProcess(t, {
    behave: ({ body }) => behave(body.toString()) ?? (body.includes('stream_options') ? REFUSAL : STREAM),
  });
  const sent = () =>
    world.provider.requests.map(
      ({ body }) => (JSON.parse(body.toString()) as { stream_options?: unknown }).stream_options,
    );
  return { ...world, sent, owner: await world.account() };
}

const ASKED = { include_usage: true };

for (const path of ['/v1/chat/completions', '/v1/completions'])
  test(`${path}: a stream whose stream_options are refused is repeated without, once for all calls`, async (t) => {
    const world = await startPicky(t);
    const { key, accountId } = world.owner;
    const prompt = path === '/v1/completions' ? { prompt: 'Hi', messages: undefined } : {};
    const call = (model = 'tokens') => world.api('POST', path, key, { ...CALL, ...prompt, model });
    const first = await call();
    t.same([first.status, await first.text()], [200, EVENTS]);
    const row = await lastCharge(world, accountId);
    t.match(row, { outcome: 'complete', estimated: true, usage: { output: 1 } });
    t.match(row.attempts, [
      { target: 'test', status: 422 },
      { target: 'test', status: 200 },
    ]);
    await world.replaceCatalog({ ...world.config, catalog: testCatalog(world.provider.url) });
    t.equal(await (await call('renamed')).text(), EVENTS);
    t.same(world.sent(), [ASKED, undefined, undefined], 'its other models too, after a reload');
    t.equal((await lastCharge(world, accountId)).attempts?.length ?? 1, 1);
  });

test('a large call is repeated without stream_options, every other byte as it was', async (t) => {
  const world = await startPicky(t);
  const messages = [{ role: 'user', content: 'Hi '.repeat(600_000) }];
  const { key } = await world.account({ credits: 100_000 });
  const response = await world.chat(key, { ...CALL, model: 'renamed', messages });
  t.equal(await response.text(), EVENTS);
  const [asked, repeated] = world.provider.requests.map(({ body }) => body.toString());
  t.ok(asked?.startsWith('{"stream_options":{"include_usage":true},"model":"upstream-name"'));
  t.equal(repeated, asked?.replace('"stream_options":{"include_usage":true},', ''));
});

test('what the client itself asked for is refused as the provider does', async (t) => {
  const world = await startPicky(t);
  for (const options of [{ include_usage: true }, { include_usage: false }, {}]) {
    const response = await world.chat(world.owner.key, { ...CALL, stream_options: options });
    t.equal(response.status, 422);
    t.match(await response.json(), REFUSAL.body);
  }
  t.equal(world.provider.requests.length, 3);
});

test('a refusal that quotes the request does not stop the asking', async (t) => {
  const quoting: Behavior = { status: 400, body: { error: { message: 'not a role: stream_options' } } };
  const world = await startPicky(t, (body) => (body.includes('odd') ? quoting : STREAM));
  const odd = { ...CALL, messages: [{ role: 'odd', content: 'stream_options' }] };
  const response = await world.chat(world.owner.key, odd);
  t.equal(response.status, 400);
  t.match(await response.json(), quoting.body);
  t.match(await lastCharge(world, world.owner.accountId), { credits: 0, outcome: 'upstream_error' });
  await (await world.chat(world.owner.key, CALL)).text();
  t.same(world.sent(), [ASKED, undefined, ASKED]);
});

test('another 400 passes at once', async (t) => {
  const other: Behavior = { status: 400, body: { error: { message: 'too long' } } };
  const world = await startPicky(t, () => other);
  const response = await world.chat(world.owner.key, CALL);
  t.same([response.status, await response.json()], [400, other.body]);
  t.equal(world.provider.requests.length, 1);
});

test('refused stream_options are no failure of the target', async (t) => {
  const world = await startTargetsGateway(t);
  world.behaveBy('a', ({ body }) => (body.includes('stream_options') ? REFUSAL : STREAM));
  const { key, accountId } = await world.account();
  t.equal(await (await world.chat(key, { ...CALL, model: 'ranked' })).text(), EVENTS);
  t.equal((await lastCharge(world, accountId)).upstream, 'a');
  const { providers } = (await (
    await world.api('GET', '/api/admin/providers/', ADMIN_TOKEN)
  ).json()) as ProviderListView;
  const targets = providers.find(({ name }) => name === 'a')?.targets;
  const health = targets?.find(({ model }) => model === world.slugOf('ranked'));
  t.match(health, { state: 'up', calls: 1, last_error: null });
});

/** A model at several upstreams at the provider's address, with other paths, names and settings. */
async function severalAt(world: InProcessGateway, settings: readonly Partial<Model['upstream']>[]) {
  const catalog = testCatalog(world.provider.url);
  const model = catalog.get('tokens') as Model;
  const targets = settings.map((setting, index) => {
    const name = `place-${index}`;
    const upstream = { ...model.upstream, name, url: `${world.provider.url}/${name}`, ...setting };
    return { model: { ...model, upstream, upstreamModel: `model-${index}` }, weight: 1, priority: index };
  });
  const [first] = targets;
  const several = { ...model, ...first?.model, targets };
  await world.replaceCatalog({ ...world.config, catalog: new Map([...catalog, ['tokens', several]]) });
}

test('a call that is handed over asks the next target by its own setting, and is repeated there', async (t) => {
  const other = await startScriptedProvider({ behave: () => ({ status: 500 }) });
  t.teardown(() => other.close());
  const world = await startPicky(t);
  await severalAt(world, [{ url: other.url, streamUsage: 'leave' }, {}]);
  t.equal(await (await world.chat(world.owner.key, CALL)).text(), EVENTS);
  const bodies = [...other.requests, ...world.provider.requests].map(({ body }) =>
    JSON.parse(body.toString()),
  );
  t.match(bodies, [{ model: 'model-0' }, { model: 'model-1', stream_options: ASKED }, { model: 'model-1' }]);
  t.same(
    bodies.map(({ stream_options: options }) => options),
    [undefined, ASKED, undefined],
  );
  const { attempts } = await lastCharge(world, world.owner.accountId);
  t.match(attempts, [
    { target: 'place-0', status: 500 },
    { target: 'place-1', status: 422 },
    { target: 'place-1', status: 200 },
  ]);
});
